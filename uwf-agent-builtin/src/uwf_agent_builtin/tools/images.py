"""Images as answers of tools."""

from uwf_agent_builtin.images import IMAGE_BYTES, IMAGE_PIXELS, MEDIA_TYPES, format_of
from uwf_agent_builtin.sessions.images import digest_of
from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.record import ImageAnswer
from uwf_llm.chat import Image


def image_answer(said: str, content: bytes, size: int) -> ImageAnswer:
    """A binary file as the answer to the model, if it is an image.

    Args:
        said: how a message names the file.
        content, size: its first bytes, and how many it has.

    Raises:
        ToolError: it is none, is damaged, or is larger than services accept.
    """
    known = format_of(content)
    if known is None:
        raise ToolError(
            f"{said} is binary ({size} bytes); only text, and images as {', '.join(MEDIA_TYPES)}, "
            "can be read"
        )
    if known.size is None:
        raise ToolError(f"{said} begins as a {known.name} image, but its header is damaged")
    size = max(size, len(content))  # it may grow meanwhile
    if size > IMAGE_BYTES:
        raise ToolError(f"the image {said} has {size:,} bytes; at most {IMAGE_BYTES:,} can be read")
    width, height = known.size
    if max(known.size) > IMAGE_PIXELS:
        raise ToolError(
            f"the image {said} has {width:,} x {height:,} pixels; at most {IMAGE_PIXELS:,} on each "
            "side can be read"
        )
    text = (
        f"[image: {known.name}, {width} x {height} pixels, {size} bytes, "
        f"sha256 {digest_of(content)}]"
    )
    return ImageAnswer(text, Image(media_type=MEDIA_TYPES[known.name], data=content))
