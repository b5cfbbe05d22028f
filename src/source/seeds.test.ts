import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { ofOthers, readOfOthers, WITHOUT_EVIDENCE } from '../../test/evidence/of-others.ts'
import { errorsOf, readText, told } from './testing/fixture.ts'

const skip = WITHOUT_EVIDENCE

function seedText(number: string): string {
  const file = readdirSync(ofOthers('seeds')).find((name) => name.startsWith(`${number}_`))
  assert.ok(file, `there is no seed ${number}`)
  return readOfOthers(`seeds/${file}`)
}

/** The yaml blocks of a page, as they are printed. */
function blocksOf(text: string): readonly string[] {
  return [...text.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)].map(([, indent = '', body = '']) =>
    body
      .split('\n')
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
      .join('\n'),
  )
}

const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  '000': ['EnvironmentFile/k3s-cloud-init-fun-bedbug', 'EnvironmentVM/k3s-vm-fun-bedbug'],
  '001': ['EnvironmentVM/k3s-vm-fun-bedbug'],
  '004': ['EnvironmentVM/k3s-vm-still-fawn', 'EnvironmentVM/k3s-vm-still-fawn'],
}

for (const [seed, keys] of Object.entries(EXPECTED)) {
  test(`the manifests that seed ${seed} prints load unchanged`, { skip }, () => {
    const revisions = blocksOf(seedText(seed)).map(readText)
    assert.deepEqual(
      revisions.flatMap((revision) => told(errorsOf(revision))),
      [],
    )
    assert.deepEqual(
      revisions.flatMap(({ declarations }) => declarations.map(({ key }) => key)),
      keys,
    )
  })
}

test('seed 004 is read under its own names, and told the real ones', { skip }, () => {
  const block = blocksOf(seedText('004')).find((text) => text.includes('type: cloud-init')) ?? ''
  const revision = readText(block)
  assert.deepEqual(
    revision.problems.map(({ code, message }) => `${code} ${message.slice(0, 40)}`),
    [
      'alias network is read as networkDevice, which ',
      'alias storage is read as datastoreId, which is',
      'alias initialization.type is the data format (',
    ],
  )
  const [declaration] = revision.declarations
  assert.ok(declaration)
  const { forProvider } = declaration.spec as { forProvider: Record<string, unknown> }
  assert.deepEqual(forProvider.networkDevice, [{ bridge: 'vmbr0', model: 'virtio' }])
  assert.deepEqual(forProvider.disk, [
    { datastoreId: 'local-zfs', interface: 'scsi0', iothread: true, size: 100, ssd: true },
  ])
})
