"""A real browser for the tests of the page: Debian's chromium, without a window, driven by selenium.

Where there is none the tests are skipped, and pytest's summary says why.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from flake8_cnnmem.reporting import html
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)

WIDE, PHONE = (1280, 1000), (390, 844)


@dataclass(frozen=True)
class Page:
    """A page that is open."""

    driver: Chrome

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        """What elements show, whether or not they are in view."""
        found: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map(x => x.textContent)", selector
        )
        return found

    def text(self, selector: str) -> str:
        return self.texts(selector)[0]

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def click(self, selector: str) -> None:
        found = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", found)
        found.click()

    def until(self, holds: Callable[[], object]) -> None:
        WebDriverWait(self.driver, 20, 0.05).until(lambda _: holds())

    def complaints(self) -> list[str]:
        """All that the console has got since the last time."""
        entries = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [entry["message"] for entry in entries]

    def resize(self, size: tuple[int, int]) -> None:
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name: str) -> None:
        """`light` or `dark`, as the system has it."""
        wanted = {"features": [{"name": "prefers-color-scheme", "value": name}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)

    def open(self, path: Path, fragment: str = "") -> None:
        self.driver.get("about:blank")
        self.driver.get(f"{path.as_uri()}{fragment}")
        self.until(lambda: self.run("return document.documentElement.dataset.drawn"))


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    binary = shutil.which("chromium") or shutil.which("google-chrome")
    service = shutil.which("chromedriver")
    if binary is None or service is None:
        pytest.skip("no chromium and chromedriver here: apt-get install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = Chrome(options=options, service=Service(service))
    yield started
    started.quit()


@pytest.fixture
def browser(driver: Chrome) -> Page:
    """A page as wide as a screen, in light, whatever it shows."""
    page = Page(driver)
    page.resize(WIDE)
    page.scheme("light")
    page.complaints()
    return page


Opened = Callable[..., Page]


@pytest.fixture
def opened(browser: Page, tmp_path: Path) -> Opened:
    """Opens the page of some reports."""

    def open_page(reports: Sequence[ModelReport], settings: Settings | None = None) -> Page:
        path = tmp_path / "page.html"
        path.write_text(html.render(reports, settings or Settings()), encoding="utf-8")
        browser.open(path)
        return browser

    return open_page
