import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorIn } from './image-processor.ts'

const ROWS: readonly (readonly [string, string | undefined])[] = [
  ['https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-arm64.img', 'aarch64'],
  ['https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-amd64.img', 'x86_64'],
  ['https://example.org/Fedora-Cloud-Base-Generic-42-1.1.aarch64.qcow2', 'aarch64'],
  ['https://example.org/openSUSE-Leap-15.6-Minimal-VM.x86_64-Cloud.qcow2', 'x86_64'],
  ['local:import/debian-13-genericcloud-arm64.qcow2', 'aarch64'],
  ['https://example.org/arm64/noble.img', undefined],
  ['https://example.org/charm64.img', undefined],
  ['https://example.org/amd64-and-arm64.img', undefined],
]

for (const [image, processor] of ROWS) test(image, () => assert.equal(processorIn(image), processor))
