"""The reference names every key and variable, with the default that takes effect."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from docmill.config import load_configuration
from docmill.config import schema as schemas
from docmill.config.providers import AUTO_MODELS, LOCAL_MODELS
from docmill.config.settings import setting_descriptions
from support.configuration_files import write

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
HEADINGS = {
    "Knowledge base": schemas.RawKnowledgeBase,
    "Tool": schemas.RawTool,
    "Strategy": schemas.RawStrategy,
    "Chunking": schemas.RawChunking,
    "Results": schemas.RawResults,
    "Fusion": schemas.RawFusion,
    "Reranking": schemas.RawReranking,
    "Answer": schemas.RawAnswer,
    "Model": schemas.RawModel,
    "Price": schemas.RawPrice,
    "Provider": schemas.RawProvider,
}


def rows_under(heading: str) -> dict[str, list[str]]:
    """The table under a heading: the first cell's name, and the other cells."""
    section = re.split(rf"^#+ {heading}\n", PAGE, flags=re.MULTILINE)[1]
    section = re.split(r"^#+ ", section, flags=re.MULTILINE)[0]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line.startswith("| `")]
    return {row[0].strip("` "): [cell.strip(" |") for cell in row[1:]] for row in rows}


@pytest.mark.parametrize(("heading", "model"), HEADINGS.items())
def test_the_reference_has_each_key_with_its_default(heading: str, model: type[BaseModel]) -> None:
    rows = rows_under(heading)
    assert list(rows) == list(model.model_fields)
    for key, field in model.model_fields.items():
        extra = field.json_schema_extra
        default = extra.get("default") if isinstance(extra, dict) else None
        if default is not None:
            shown = str(default).lower() if isinstance(default, bool) else str(default)
            assert rows[key][1].startswith(f"`{shown}`"), key


def test_every_section_of_the_schema_is_in_the_reference() -> None:
    sections = {model for model in vars(schemas).values() if isinstance(model, type) and issubclass(model, schemas.RawSection)}
    assert sections - {schemas.RawSection} == set(HEADINGS.values())


def test_the_reference_has_each_variable_with_its_default() -> None:
    rows = rows_under("Environment variables")
    descriptions = setting_descriptions()
    assert list(rows) == [description.variable for description in descriptions]
    for description in descriptions:
        shown = rows[description.variable][0]
        if description.default is None:
            assert shown in ("embedded", "fitted to the cores", "the system's", "none")
        else:
            assert shown == f"`{description.default:g}`"


def test_the_reference_has_the_local_models_and_their_threshold() -> None:
    assert all(f"`local/{name}`" in PAGE and f"({local.dimensions} dimensions" in PAGE for name, local in LOCAL_MODELS.items())
    for name, model in LOCAL_MODELS.items():
        assert f"`{model.threshold}` (`local/{name}`)" in PAGE.replace("\n", " ")
    assert all(f"`{model}`" in PAGE for model in AUTO_MODELS.values())


def test_the_examples_of_the_reference_load(tmp_path: Path) -> None:
    for example in re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL):
        assert load_configuration(write(tmp_path, example)).warnings == ()
