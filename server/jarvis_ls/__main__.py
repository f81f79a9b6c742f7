"""``python -m jarvis_ls`` is the language server."""

import sys

from jarvis_ls.cli.language_server import main

sys.exit(main())
