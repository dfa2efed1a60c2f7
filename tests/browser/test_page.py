"""The page of `--format html` in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from flake8_cnnmem import units
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.finding import one_line
from flake8_cnnmem.reporting import html, html_data, phrases
from flake8_cnnmem.reporting.summary import line_of, with_places
from flake8_cnnmem.results import ModelReport, Remedy, Row
from flake8_cnnmem.settings.options import Settings, parse_limit
from flake8_cnnmem.source import load
from flake8_cnnmem.training import Fact
from flake8_cnnmem.units import GIB, KIB, MIB
from flake8_cnnmem.unknown import Unknown
from tests.browser.conftest import PHONE, WIDE, Opened, Page
from tests.reporting.hostile import NAMES, report_named

Make = Callable[..., ModelReport]

ROOT = Path(__file__).resolve().parent.parent.parent
T4 = Settings(gpu_limit=parse_limit("T4"))

MODELS = {
    "VGG16": "fixtures/models/torch/vgg16.py",
    "a U-Net": "fixtures/models/torch/unet.py",
    "a GAN's training script": "fixtures/scripts/dcgan_faces.py",
    "a Keras model": "fixtures/models/keras/resnet50.py",
}


def reports_of(path: str, monkeypatch: pytest.MonkeyPatch, settings: Settings = T4) -> tuple[ModelReport, ...]:
    monkeypatch.chdir(ROOT)
    found = analyse(load(path), settings).reports
    assert found, path
    return found


@pytest.mark.parametrize("path", MODELS.values(), ids=MODELS)
def test_every_model_opens_without_a_complaint_and_the_peak_is_the_reports_figure(
    path: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = reports_of(path, monkeypatch)
    page = opened(reports, T4)
    shown = with_places([line_of(report) for report in reports])
    for number, report in enumerate(reports[place] for place, _ in shown):
        page.run("location.hash = arguments[0]", str(number))
        page.until(lambda: page.text("h1") == one_line(report.name))  # noqa: B023
        assert report.estimate is not None
        figure = phrases.total(report)
        page.until(lambda: f"peak {figure}" in page.texts(".annotation-text"))  # noqa: B023
        assert page.text("#figure") == figure
        assert page.text(".moment .sum") == figure
        assert report.estimate.moment == page.text(".moment .op")
    assert page.complaints() == []
    assert page.run("return performance.getEntriesByType('resource').length") == 0


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> ModelReport:
    """The VGG16 of the fixtures."""
    return reports_of(MODELS["VGG16"], monkeypatch)[-1]


@pytest.fixture(scope="module")
def page_of_vgg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        [*_, report] = reports_of(MODELS["VGG16"], patch)
    path = tmp_path_factory.mktemp("vgg") / "page.html"
    path.write_text(html.render([report], T4), encoding="utf-8")
    return path


@pytest.fixture
def vgg(browser: Page, page_of_vgg: Path) -> Page:
    """Its page, the model chosen anew."""
    if browser.driver.current_url != page_of_vgg.as_uri():
        browser.open(page_of_vgg)
    browser.run("dispatchEvent(new Event('hashchange'))")
    browser.until(lambda: browser.all(".annotation-text") and browser.all(".treemap .slice"))
    return browser


def test_walking_into_the_treemap_and_back(vgg: Page, report: ModelReport) -> None:
    assert vgg.texts(".crumbs li") == [report.name]
    assert any(tile.startswith("classifier") for tile in vgg.texts(".treemap .slice"))
    vgg.run("arguments[0].scrollIntoView({block: 'center'})", vgg.one(".modules .plot"))
    heading = next(text for text in vgg.all(".treemap text.slicetext") if text.text == "features")
    ActionChains(vgg.driver).move_to_element(heading).click().perform()
    vgg.until(lambda: vgg.texts(".crumbs li") == [report.name, "features"])
    assert vgg.text("[role=status]").startswith("features: ")
    assert all("classifier" not in text for text in vgg.texts(".ranked .name"))
    vgg.click(".crumbs button")
    vgg.until(lambda: vgg.texts(".crumbs li") == [report.name])
    assert vgg.complaints() == []


def test_walking_with_the_keyboard(vgg: Page, report: ModelReport) -> None:
    vgg.one(".ranked button").send_keys(Keys.ENTER)
    vgg.until(lambda: vgg.texts(".crumbs li") == [report.name, "features"])
    focused = vgg.driver.switch_to.active_element
    assert focused.tag_name == "button", "the way back, or further in, has the focus"
    vgg.one(".crumbs button").send_keys(Keys.ENTER)
    vgg.until(lambda: vgg.texts(".crumbs li") == [report.name])


def test_what_the_modules_hold_adds_up(vgg: Page, report: ModelReport) -> None:
    assert report.estimate is not None
    assert report.estimate.saved is not None
    kept = sum(size for _, size in report.estimate.kept_by)
    assert kept == report.estimate.saved - report.estimate.input
    weights = 2 * 4 * sum(row.parameters for row in report.rows)
    assert vgg.text("[role=status]") == (
        f"all modules: {units.show(kept + weights)}, of which {units.show(kept)} kept activations and "
        f"{units.show(weights)} parameters with gradients"
    )


def test_the_table_sorts_by_any_column(vgg: Page) -> None:
    names = vgg.texts("#layers tbody td:first-child")
    vgg.click("#layers th:nth-child(6) button")
    assert vgg.one("#layers th:nth-child(6)").get_attribute("aria-sort") == "descending"
    numbers = [int(text.replace(",", "")) for text in vgg.texts("#layers tbody td:nth-child(6)")]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > 0
    vgg.click("#layers th:nth-child(6) button")
    assert vgg.one("#layers th:nth-child(6)").get_attribute("aria-sort") == "ascending"
    vgg.one("#layers th:nth-child(1) button").send_keys(Keys.ENTER)
    assert vgg.one("#layers th:nth-child(1)").get_attribute("aria-sort") == "ascending"
    assert vgg.one("#layers th:nth-child(6)").get_attribute("aria-sort") is None
    by_name = vgg.texts("#layers tbody td:first-child")
    assert by_name != names
    assert sorted(by_name) == sorted(names)
    assert by_name.index("features.2") < by_name.index("features.10"), "numbers in names count as numbers"


def test_pointing_at_a_moment_names_the_op_its_line_and_its_bytes(vgg: Page, report: ModelReport) -> None:
    plot = vgg.one(".chart .plot")
    vgg.run("arguments[0].scrollIntoView({block: 'center'})", plot)
    before = vgg.text(".moment .op")
    ActionChains(vgg.driver).move_to_element_with_offset(plot, -plot.size["width"] // 4, 20).perform()
    vgg.until(lambda: vgg.text(".moment .op") != before)
    op, place, size = vgg.text(".moment .op"), vgg.text(".moment .code"), vgg.text(".moment .sum")
    assert report.estimate is not None
    overhead = report.estimate.overhead
    told = {
        (str(moment), f"{moment.site.path}:{moment.site.line}", units.show(moment.live.total + overhead))
        for moment in report.estimate.moments()
        if moment.site is not None
    }
    assert (op, place, size) in told
    vgg.click(".top button")
    assert vgg.text(".moment .op") == before


def test_the_moments_by_keyboard(vgg: Page, report: ModelReport) -> None:
    assert report.estimate is not None
    moments = [str(moment) for moment in report.estimate.moments()]
    slider = vgg.one(".chart input")
    slider.send_keys(Keys.HOME)
    assert vgg.text(".moment .op") == moments[0]
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert vgg.text(".moment .op") == moments[2]
    assert moments[2] in (slider.get_attribute("aria-valuetext") or "")
    slider.send_keys(Keys.END)
    assert vgg.text(".moment .op") == moments[-1]


def test_light_dark_phone_and_paper(vgg: Page) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    peak = "return getComputedStyle(document.querySelector('.annotation-text')).fill"
    light, dark_ink = vgg.run(ground), vgg.run(peak)
    vgg.scheme("dark")
    vgg.until(lambda: vgg.run(ground) != light)
    vgg.until(lambda: vgg.run(peak) != dark_ink)
    vgg.resize(PHONE)
    vgg.until(lambda: vgg.run("return document.querySelector('.main-svg').clientWidth < innerWidth"))
    assert vgg.run("return document.documentElement.scrollWidth <= innerWidth")
    printed = vgg.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert len(printed["data"]) > 20_000
    assert vgg.run("return document.documentElement.dataset.print") is None, "paper is light, the screen dark again"
    assert vgg.complaints() == []


def test_remedies_evidence_and_causes_are_shown(opened: Opened, make_report: Make) -> None:
    report = make_report(
        status="lower-bound",
        causes=(Unknown("nobody gives num_classes", "vgg.py", 14),),
        remedies=(Remedy("batch size 63", 12 * GIB, True), Remedy("mixed_float16", 13 * GIB, False)),
        training=replace(make_report().training, batch_size=Fact(64, "train.py:41", (("32", "option"),))),
    )
    page = opened([report])
    rows = [row.split() for row in (element.text for element in page.all("[aria-labelledby=remedies-title] tbody tr"))]
    assert rows[0] == ["batch", "size", "63", "12.0", "GiB", "<1", "%", "fits"]
    assert rows[1][-3:] == ["does", "not", "fit"]
    assert page.texts("#causes li") == ["nobody gives num_classes (line 14)"]
    assert page.texts("[aria-labelledby=evidence-title] tbody tr:nth-child(2) td") == [
        "batch", "64", "train.py:41", "32 (option)",
    ]  # fmt: skip
    assert page.complaints() == []


def test_an_unresolved_model_shows_what_is_known_and_the_cause(opened: Opened, make_report: Make) -> None:
    report = make_report(
        status="unresolved", causes=(Unknown("the source of 'zoo' is not found", "vgg.py", 3),), estimate=None, rows=(),
        parameters=None, trainable=None, activations=None, fits=None, largest_batch_size=None,
    )  # fmt: skip
    page = opened([report])
    assert page.text("#figure") == "not estimated"
    assert page.texts("#causes li") == ["the source of 'zoo' is not found (line 3)"]
    assert page.texts("[aria-labelledby=evidence-title] tbody td:first-child") == [
        "input",
        "batch",
        "optimizer",
        "dtype",
    ]
    assert page.all(".plot") == []
    assert page.complaints() == []


def test_the_textbook_count_has_no_moments_but_modules(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    textbook = replace(T4, accounting="cs231n")
    page = opened(reports_of(MODELS["VGG16"], monkeypatch, textbook), textbook)
    assert page.all(".chart") == []
    assert len(page.all(".treemap .slice")) > 10
    assert page.complaints() == []


def test_no_model_is_said(opened: Opened) -> None:
    assert opened([]).text("#model") == "No model was found."


def test_several_models_are_a_list_to_choose_from_and_to_filter(opened: Opened, make_report: Make) -> None:
    page = opened([make_report(name=f"Net{number}", path=f"models/net{number}.py") for number in range(3)])
    assert page.texts("#models b") == ["Net0", "Net1", "Net2"]
    page.click("#models tbody tr:nth-child(2) a")
    page.until(lambda: page.text("h1") == "Net1")
    assert page.one("#models [aria-current]").text.startswith("Net1")
    page.one("#models input").send_keys("net2")
    assert page.texts("#models b") == ["Net2"]
    page.driver.back()
    page.until(lambda: page.text("h1") == "Net0")
    assert page.complaints() == []


def test_names_are_data(opened: Opened, make_report: Make) -> None:
    page = opened([report_named(name, make_report) for name in NAMES.values()])
    assert sorted(page.texts("#models b")) == sorted(one_line(name) for name in NAMES.values())
    for name in NAMES.values():
        number = page.texts("#models b").index(one_line(name))
        page.run("location.hash = arguments[0]", str(number))
        page.until(lambda: page.text("h1") == one_line(name))  # noqa: B023
        assert page.text("#layers tbody td") == one_line(f"{name}.features.0.{name}")
        assert page.texts("#causes li") == [one_line(f"nobody gives {name} ({name}.py:3)")]
        tiles = " ".join(page.texts(".treemap .slice text"))
        assert "<" not in name or name.partition(".")[0] in tiles
        assert page.run("return document.querySelectorAll('script:not([type])').length") == 2
        assert page.run("return document.querySelectorAll('img, iframe, a:not([href^=\"#\"])').length") == 0
    assert page.complaints() == []


def test_sizes_are_those_of_the_reports(opened: Opened, make_report: Make) -> None:
    quarters = [9 * MIB + MIB // 4, 9 * MIB + 3 * MIB // 4, 2 * GIB + GIB // 4, 2 * GIB + 3 * GIB // 4]
    halves = [12 * MIB + MIB // 2, 13 * MIB + MIB // 2]
    sizes = [0, 1, 5 * KIB, 5243, 100 * KIB, MIB - 1, MIB, 10 * MIB, 972 * MIB, 973 * MIB, GIB, 107 * GIB + 12345]
    sizes += quarters + halves
    rows = tuple(Row(f"layer{size}", "Layer", 1, (1,), 0, 0, size) for size in sizes)
    page = opened([make_report(rows=rows)])
    page.click("#fold")
    assert page.texts("#layers tbody td:nth-child(7)") == [units.show(size) for size in sizes]


def test_a_page_of_500_models_is_there_within_3_seconds(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    [*_, report] = reports_of("fixtures/models/torch/resnet.py", monkeypatch)
    # What a page knows of each is the same, and worked out once: it is the browser that is measured.
    whole = html_data.model_data(report, T4)
    monkeypatch.setattr(html, "model_data", lambda each, settings: {**whole, **html_data.head(each)})
    page = opened([replace(report, name=f"Net{number}") for number in range(500)], T4)
    assert len(page.all("#models tbody tr")) == 500
    taken = []
    for _ in range(3):
        page.driver.refresh()
        page.until(lambda: page.run("return document.documentElement.dataset.drawn"))
        taken.append(page.run("return performance.getEntriesByName('drawn')[0].startTime"))
    assert min(taken) < 3000


def test_the_overview_opens_on_what_needs_most_and_sorts(opened: Opened, make_report: Make) -> None:
    sizes = {"small": GIB, "over": 13 * GIB, "large": 9 * GIB}
    reports = [
        make_report(
            name=name,
            path=f"{name}.py",
            fits=size <= 12 * GIB,
            largest_batch_size=GIB // size,
            estimate=replace(estimate, total=size),
        )
        for name, size in sizes.items()
        if (estimate := make_report().estimate) is not None
    ]
    page = opened(reports)
    assert page.text("h1") == "over"
    assert page.text("#models-title") == "3 models, 1 over its limit"
    assert page.texts("#models b") == ["over", "large", "small"]
    page.click("#models th:nth-child(1) button")
    assert page.texts("#models b") == ["large", "over", "small"]
    page.click("#models th:nth-child(3) button")
    assert page.texts("#models b") == ["over", "large", "small"]
    assert page.one("#models th:nth-child(3)").get_attribute("aria-sort") == "descending"
    page.resize(PHONE)
    page.until(lambda: page.texts("#models th")[:2] == ["name", "needs"])
    assert not {"where", "state"} & set(page.texts("#models th"))
    assert [text.partition(":")[0] for text in page.texts("#models small")] == [
        "over.py", "over its limit", "large.py", "fits", "small.py", "fits"
    ]  # fmt: skip
    assert page.complaints() == []


def test_long_names_go_on_in_a_new_line(opened: Opened, make_report: Make) -> None:
    names = ["lraspp_mobilenet_v3_large", "_SimpleSegmentationModel", "deeplabv3_mobilenet_v3_large"]
    path = "torchvision/models/segmentation/faster_and_faster_rcnn.py"
    page = opened([make_report(name=name, path=path, line=number) for number, name in enumerate(names, 1)])
    fits = "const box = document.querySelector('#models .scroll'); return box.scrollWidth <= box.clientWidth"
    assert page.run(fits)
    assert page.text("#models-title") == "3 models, 3 over their limits"


def test_rows_of_zeros_are_folded_and_memory_comes_first_on_a_phone(opened: Opened, make_report: Make) -> None:
    page = opened([make_report()])
    assert page.texts("#layers tbody td:first-child") == ["features.0", "classifier"]
    assert page.text("#fold") == "show 1 row of zeros"
    page.click("#fold")
    assert page.texts("#layers tbody td:first-child") == ["features.0", "features.1", "classifier"]
    assert page.texts("#layers th") == ["layer", "type", "line", "output", "values", "parameters", "written"]
    page.resize(PHONE)
    page.until(lambda: page.texts("#layers th")[1] == "written")
    assert page.texts("#layers th")[-2:] == ["type", "line"]


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_the_labels_of_peak_and_limit_do_not_cover_each_other(
    size: tuple[int, int], opened: Opened, report: ModelReport
) -> None:
    assert report.estimate is not None
    total = report.estimate.total
    shares = (50, 93, 99, 100, 102, 120, 160)
    limits = [total * share // 100 for share in shares]
    page = opened(
        [replace(report, name=f"Net{limit}", limit=limit, fits=limit >= total) for limit in limits],
    )
    page.resize(size)
    boxes = """
        const named = (word) => [...document.querySelectorAll('.annotation-text')]
            .find((text) => text.textContent.startsWith(word)).getBoundingClientRect();
        const plot = document.querySelector('.chart .plot').getBoundingClientRect();
        return [named('peak'), named('limit'), plot].map((box) => [box.left, box.right, box.top, box.bottom]);
    """
    drawn = "return (document.querySelector('.chart .main-svg') || {clientWidth: -1}).clientWidth"
    for name in page.texts("#models b"):
        page.run("location.hash = arguments[0]", str(page.texts("#models b").index(name)))
        page.until(lambda: page.text("h1") == name)  # noqa: B023
        page.until(lambda: page.run(drawn) == page.run("return document.querySelector('.chart .plot').clientWidth"))
        page.until(lambda: page.run(drawn) < size[0])
        peak, line, plot = page.run(boxes)
        apart = peak[1] <= line[0] or line[1] <= peak[0] or peak[3] <= line[2] or line[3] <= peak[2]
        assert apart, (name, peak, line)
        for box in (peak, line):
            assert box[0] >= plot[0] - 1
            assert box[1] <= plot[1] + 1
