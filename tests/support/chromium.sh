#!/bin/sh
# Chromium without the two pages that its address bar keeps loaded for each window, though nobody
# types there: they take as long as a page of ours. Of several lists of features that are off,
# Chromium takes the last: these are added to the one that Playwright gives.
for argument; do
  shift
  case $argument in
    --disable-features=*) argument=$argument,WebUIOmniboxPopup,WebUIOmniboxAimPopup ;;
  esac
  set -- "$@" "$argument"
done
exec "$JARVIS_TEST_CHROMIUM" "$@"
