"""How a picture came to be, in the picture: the IPTC digital source type as XMP in a PNG.

Only exports carry it. A benchmark's own files and what planners are given stay bare, so that nothing of a file tells
the arms apart.
"""

import struct
import zlib

from cfgen.core.errors import InputError

VOCABULARY = "http://cv.iptc.org/newscodes/digitalsourcetype/"
#: inpainters that insert what was rendered, with no trained model
_RENDERED = ("composite", "pathtrace")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEYWORD = b"XML:com.adobe.xmp"
#: bytes of signature and IHDR, which comes first
_HEAD = 33
_PACKET = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">
   <Iptc4xmpExt:DigitalSourceType>{value}</Iptc4xmpExt:DigitalSourceType>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>"""


def source_type(inpainter: str, guide: str = "") -> str:
    """The vocabulary's term for what ``inpainter`` makes; one that is not ours counts as a trained model."""
    drawn = "compositeSynthetic" if rendered(inpainter, guide) else "compositeWithTrainedAlgorithmicMedia"
    return VOCABULARY + drawn


def rendered(inpainter: str, guide: str = "") -> bool:
    """Whether inserts are rendered from models, by no trained one."""
    return inpainter in _RENDERED and guide in ("", *_RENDERED)


def tagged(png: bytes, value: str) -> bytes:
    """``png`` with the digital source type ``value``, its pixels as they were."""
    if not png.startswith(_SIGNATURE):
        raise InputError("expected a PNG, found something else; only PNG pictures are tagged")
    # keyword, no compression, no language, no translated keyword
    chunk = b"iTXt" + _KEYWORD + b"\0\0\0\0\0" + _PACKET.format(value=value).encode()
    framed = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png[:_HEAD] + framed + png[_HEAD:]
