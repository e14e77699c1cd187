# `make try` sets everything up and judges a stub and a solution; `make test` runs the tests.
PYTHON ?= python3
VENV ?= .venv
# PyTorch's own index of CPU builds: on Linux the default build brings gigabytes of CUDA.
# `make try TORCH_INDEX=` takes what the configured index has instead.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PIP := $(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt
ifeq ($(shell uname -s),Linux)
ifneq ($(TORCH_INDEX),)
TORCH := --retries 1 --extra-index-url $(TORCH_INDEX)
endif
endif

.PHONY: try test lint readme pictures clean
try: $(VENV)/.installed
	@test -d my-katas || $(BIN)/kata init my-katas
	@$(BIN)/kata list
	@echo '$$ kata run softmax'
	@$(BIN)/kata run softmax || test $$? -eq 1
	@echo '$$ kata run softmax --file reference/softmax.py'
	@$(BIN)/kata run softmax --file reference/softmax.py
	@echo 'Now it is your turn:  . $(BIN)/activate  and then  kata show dot-product'

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q -rs -n auto --maxprocesses 4 --dist loadfile

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

readme: $(VENV)/.installed-test
	$(BIN)/python docs/make_readme.py
	$(BIN)/python docs/make_katas.py

pictures: $(VENV)/.installed-browser
	$(BIN)/python docs/make_lab_pictures.py

$(VENV)/.installed: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo 'Installing into $(VENV); torch is about 200 MB, so the first time takes a while ...'
	@$(PIP) $(TORCH) --no-deps torch
	@$(PIP) -e .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@$(PIP) -e '.[test]'
	@touch $@

$(VENV)/.installed-browser: $(VENV)/.installed-test
	@$(PIP) -e '.[browser]'
	@touch $@

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
