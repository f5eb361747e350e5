"""The app: place, look, curate, rate, compare, try. Plain functions over the store; only ``server.py`` knows Gradio."""
