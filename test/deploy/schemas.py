#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the manifests of deploy/kubernetes against the schemas of Kubernetes.

Usage: schemas.py [--self-test]

The schemas are those that kubernetes-types has, an npm package made of Kubernetes' own
OpenAPI description: tsc takes each object for one of its type, so a field that there is
not, that is missing, or that has a value of another type is found. What only a server
checks is not, such as fields that exclude each other. Needs npm and its registry.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import yaml

MANIFESTS = pathlib.Path(__file__).resolve().parents[2] / "deploy/kubernetes"
PACKAGES = ["kubernetes-types@1.30.0", "typescript@5.9.3"]
# One fault each, in a manifest that has none else.
FAULTS = {
    "a misspelt field": lambda job: job["spec"].update(completion=4),
    "a misspelt field far inside":
        lambda job: job["spec"]["template"]["spec"]["containers"][0].update(arg=[]),
    "a text for a number": lambda job: job["spec"].update(completions="4"),
    "a missing field": lambda job: job["spec"]["template"]["spec"].pop("containers"),
    "another version": lambda job: job.update(apiVersion="batch/v2"),
}


def read_manifests():
    for path in sorted(MANIFESTS.rglob("*.yaml")):
        for number, document in enumerate(yaml.safe_load_all(path.read_text())):
            yield f"{path.name}[{number}]", document


def faults_of(folder, document):
    """What tsc says of a manifest."""
    group, _, version = document["apiVersion"].rpartition("/")
    # Those that end in k8s.io have their first word as a name.
    module = f"kubernetes-types/{group.split('.')[0] or 'core'}/{version}"
    source = folder / "manifest.ts"
    source.write_text(f'import {{ {document["kind"]} }} from "{module}";\n'
                      f"export const it: {document['kind']} = {json.dumps(document)};\n")
    checked = subprocess.run(
        ["node_modules/.bin/tsc", "--noEmit", "--strict", source.name], cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    return [] if checked.returncode == 0 else checked.stdout.splitlines()


def main():
    manifests = list(read_manifests())
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund",
                        "--ignore-scripts", *PACKAGES], cwd=folder, check=True, timeout=300)
        wrong = [f"{name}: {fault}" for name, document in manifests
                 for fault in faults_of(folder, document)]
        if sys.argv[1:] == ["--self-test"]:
            for what, put in FAULTS.items():
                (job,) = [json.loads(json.dumps(document)) for _, document in manifests
                          if document["metadata"]["name"] == "pathways-worker"]
                put(job)
                if not faults_of(folder, job):
                    wrong.append(f"not found: {what}")
    print("\n".join(wrong) or f"{len(manifests)} objects are what their schemas say")
    return 1 if wrong or not manifests else 0


if __name__ == "__main__":
    sys.exit(main())
