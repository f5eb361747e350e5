"""What an inpainter can draw, known to the page without having the inpainter itself at hand."""

from dataclasses import dataclass

from cfgen.benchmark.context import BuildContext
from cfgen.core.errors import InputError
from cfgen.hazards.taxonomy import Taxonomy
from cfgen.inpaint.edit import can_draw
from cfgen.records import Hazard, Size


@dataclass(frozen=True)
class Capabilities:
    """What an inpainter can draw.

    Attributes:
        drawn: ids of the hazards it can draw.
        sizes: of those asked about so far, the sizes there are of it; none: any will do.
        generative: it repaints pixels and may start from another inpainter's insert.
    """

    taxonomy: Taxonomy
    drawn: frozenset[str]
    sizes: dict[str, tuple[Size, ...]]
    generative: bool

    @classmethod
    def of(cls, context: BuildContext, hazard_id: str | None = None) -> "Capabilities":
        """With the sizes of one hazard, which may take a while to find; of all for None."""
        drawn = [h for h in context.taxonomy.hazards if can_draw(h, context.inpainter, context.guide)]
        asked = [h for h in drawn if hazard_id in (None, h.id)]
        sizes = {h.id: tuple(context.sizes(h)) for h in asked}
        ids = frozenset(h.id for h in drawn)
        return cls(context.taxonomy, ids, sizes, not context.inpainter.needs.every_frame)

    def knows(self, hazard_id: str) -> bool:
        """Whether there is nothing to ask about this hazard."""
        return hazard_id not in self.drawn or hazard_id in self.sizes

    def hazard(self, hazard_id: str, size: int | None = None) -> Hazard:
        """The hazard, in the ``size``-th of its sizes, counted round.

        Raises:
            InputError: no such hazard, or one that this inpainter cannot draw.
        """
        hazard = self.taxonomy.get(hazard_id)
        if hazard_id not in self.drawn:
            raise InputError(
                f"hazard '{hazard.name}': this inpainter cannot draw it; choose another of either"
            )
        if hazard_id not in self.sizes:
            raise InputError(f"hazard '{hazard.name}': its sizes are not known yet; choose it again")
        sizes = self.sizes[hazard_id]
        if size is None or not sizes:
            return hazard
        return hazard.model_copy(update={"size": sizes[size % len(sizes)]})
