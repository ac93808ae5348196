"""A headless Chromium for tests, through Selenium: found here, or fetched by Selenium."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1000")


def open_browser() -> Any:
    """Return a Selenium driver of a headless Chromium; skip the test, saying why, if there is none.

    CHROMIUM and CHROMEDRIVER name programs that are not on the path.
    """
    selenium = pytest.importorskip("selenium", reason="no Selenium: pip install selenium")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    if browser is not None:
        options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    try:  # without a path Selenium looks for a driver, and for a browser, on the network
        return webdriver.Chrome(options=options, service=Service(driver))
    except selenium.common.exceptions.WebDriverException as error:
        pytest.skip(f"no Chromium with its chromedriver ({browser}, {driver}): {error.msg}")
