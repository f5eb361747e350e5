"""The data set in Croissant 1.0 with its responsible-AI fields, as venues and search engines read it."""

import re
from datetime import UTC, datetime
from typing import Any

from cfgen.sharing import about as words
from cfgen.sharing.about import About
from cfgen.sharing.licences import OPEN

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TEXTS = (
    "case_id",
    "scene_id",
    "hazard",
    "hazard_name",
    "cluster",
    "why",
    "zone",
    "source",
    "license",
    "case",
)
_TYPES = {
    **dict.fromkeys(_TEXTS, "sc:Text"),
    **dict.fromkeys(("distance_m", "required_decel", "speed"), "sc:Float"),
    "motion_known": "sc:Boolean",
}


def croissant(about: About, metadata_hash: str) -> dict[str, Any]:
    """``croissant.json``. ``metadata_hash``: of ``test/metadata.jsonl``, as cfgen writes hashes."""
    told = about.told
    urls = [known.url for known in OPEN if known.id == about.licence]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": re.sub(r"[^A-Za-z0-9_.-]+", "-", told.name),
        "description": f"{about.summary} {about.notice}",
        "license": urls or about.licences,
        **({"url": told.url} if told.url else {}),
        "creator": {"@type": "Organization", "name": told.creator or "not told"},
        "datePublished": datetime.now(UTC).date().isoformat(),
        "version": "1.0.0",
        "citeAs": f"{told.creator or told.name}: {told.name}. Made with cfgen {about.benchmark.cfgen_version}.",
        "keywords": ["autonomous driving", "counterfactual", "hazard", "benchmark", "synthetic"],
        **_responsible(about),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "metadata",
                "name": "metadata",
                "description": "One line a case.",
                "contentUrl": "test/metadata.jsonl",
                "encodingFormat": "application/jsonlines",
                "sha256": metadata_hash.removeprefix("sha256:"),
            },
            {
                "@type": "cr:FileSet",
                "@id": "pictures",
                "name": "pictures",
                "description": "All pictures, named by case and arm.",
                "encodingFormat": "image/png",
                "includes": "test/images/*.png",
            },
        ],
        "recordSet": [_cases(about), _pictures()],
    }


def _responsible(about: About) -> dict[str, Any]:
    return {
        "rai:dataCollection": about.collection,
        "rai:dataCollectionType": ["Software Collection", "Secondary Data Analysis"],
        "rai:dataManipulationProtocol": about.manipulation,
        "rai:dataPreprocessingProtocol": [about.manipulation],
        "rai:dataAnnotationProtocol": words.LABELS,
        "rai:machineAnnotationTools": [f"cfgen {about.benchmark.cfgen_version}"],
        "rai:dataUseCases": [words.USES],
        "rai:dataBiases": [words.BIASES],
        "rai:dataLimitations": [words.LIMITS],
        "rai:dataSocialImpact": about.notice,
        "rai:personalSensitiveInformation": [about.personal],
        "rai:dataReleaseMaintenancePlan": words.MAINTENANCE,
    }


def _cases(about: About) -> dict[str, Any]:
    files = sorted({k for row in about.rows for k in row if k.endswith("_file_name")})
    fields = [_field(name, kind) for name, kind in {**_TYPES, **dict.fromkeys(files, "sc:Text")}.items()]
    return {
        "@type": "cr:RecordSet",
        "@id": "cases",
        "name": "cases",
        "description": "One record a case; *_file_name is relative to the folder test/.",
        "key": {"@id": "cases/case_id"},
        "field": fields,
    }


def _field(name: str, kind: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"cases/{name}",
        "name": name,
        "dataType": kind,
        "source": {"fileObject": {"@id": "metadata"}, "extract": {"column": name}},
    }


def _pictures() -> dict[str, Any]:
    def one(name: str, kind: str, what: str) -> dict[str, Any]:
        return {
            "@type": "cr:Field",
            "@id": f"pictures_by_name/{name}",
            "name": name,
            "dataType": kind,
            "source": {"fileSet": {"@id": "pictures"}, "extract": {"fileProperty": what}},
        }

    return {
        "@type": "cr:RecordSet",
        "@id": "pictures_by_name",
        "name": "pictures_by_name",
        "description": "Every picture with its file name, which begins with the case id and the arm.",
        "field": [one("file", "sc:Text", "filename"), one("picture", "sc:ImageObject", "content")],
    }
