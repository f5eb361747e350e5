"""What an inpainter can draw, known to the page without having the inpainter itself at hand."""

from collections.abc import Mapping
from dataclasses import dataclass

from cfgen.casework import Workshop
from cfgen.errors import InputError
from cfgen.hazards.taxonomy import Taxonomy
from cfgen.inpaint.guided import can_draw
from cfgen.records import Hazard, Size


@dataclass(frozen=True)
class Palette:
    """What a workshop can draw.

    Attributes:
        sizes: by id of a hazard that can be drawn, the sizes there are of it; none: any will do.
        generative: it repaints pixels and may start from another inpainter's insert.
    """

    taxonomy: Taxonomy
    sizes: Mapping[str, tuple[Size, ...]]
    generative: bool

    @classmethod
    def of(cls, shop: Workshop) -> "Palette":
        drawn = [h for h in shop.taxonomy.hazards if can_draw(h, shop.inpainter, shop.guide)]
        sizes = {h.id: tuple(shop.sizes(h)) for h in drawn}
        return cls(shop.taxonomy, sizes, not shop.inpainter.needs.every_frame)

    def hazard(self, hazard_id: str, size: int | None = None) -> Hazard:
        """The hazard, in the ``size``-th of its sizes, counted round.

        Raises:
            InputError: no such hazard, or one that this inpainter cannot draw.
        """
        hazard = self.taxonomy.get(hazard_id)
        if hazard_id not in self.sizes:
            raise InputError(
                f"hazard '{hazard.name}': this inpainter cannot draw it; choose another of either"
            )
        sizes = self.sizes[hazard_id]
        if size is None or not sizes:
            return hazard
        return hazard.model_copy(update={"size": sizes[size % len(sizes)]})
