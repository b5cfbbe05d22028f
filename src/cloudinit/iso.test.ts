import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { findCommand } from '../../scripts/packages.ts'
import { readIso } from '../../sim/world/read-iso.ts'
import { isoImage } from './iso.ts'

const folder = mkdtempSync(join(tmpdir(), 'croft-iso-'))
after(() => {
  // Files extracted from a disc may be read-only, so an ordinary user could not remove them.
  const extracted = join(folder, 'out')
  if (existsSync(extracted)) chmodSync(extracted, 0o700)
  rmSync(folder, { recursive: true, force: true })
})

const bytes = (text: string) => new TextEncoder().encode(text)
const FILES = [
  { name: 'user-data', bytes: bytes('#cloud-config\nhostname: web-1\n') },
  { name: 'meta-data', bytes: bytes('instance-id: croft-0\n') },
  { name: 'network-config', bytes: bytes('version: 2\n'.repeat(500)) },
  { name: 'vendor-data', bytes: new Uint8Array() },
]
const image = join(folder, 'seed.iso')
writeFileSync(image, isoImage('CIDATA', FILES))

function needing(command: string) {
  const path = findCommand(command)
  return { path: path ?? command, skip: path === undefined ? `${command} is not installed` : false }
}

function run(command: string, ...args: string[]): string {
  const ran = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC' } })
  assert.equal(ran.status, 0, ran.stderr)
  return ran.stdout
}

test('the same files give the same bytes, in whatever order they come', () => {
  const made = isoImage('CIDATA', [...FILES].reverse())
  assert.deepEqual(made, new Uint8Array(readFileSync(image)))
  // Pinned bytes: a changed byte would make every machine look as if its document had changed.
  assert.equal(
    createHash('sha256')
      .update(isoImage('CIDATA', FILES.slice(0, 2)))
      .digest('hex'),
    '0e0d0417b85500ccb773921c10110dcf838084892c7a59c85312ae44c189a411',
  )
})

test('what is written is read back, whatever the files hold', () => {
  const names = ['user-data', 'meta-data', 'network-config', 'vendor-data', 'a', 'x0-9']
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...names), fc.uint8Array({ maxLength: 5000 }), { maxKeys: names.length }),
      (files) => {
        const made = isoImage(
          'CIDATA',
          Object.entries(files).map(([name, content]) => ({ name, bytes: content })),
        )
        assert.equal(made.length % 2048, 0)
        const read = readIso(made)
        assert.equal(read?.volumeId, 'CIDATA')
        assert.deepEqual(
          Object.fromEntries([...(read?.files ?? [])].map(([name, content]) => [name, [...content]])),
          Object.fromEntries(Object.entries(files).map(([name, content]) => [name, [...content]])),
        )
      },
    ),
    { numRuns: 100 },
  )
})

test('names that an image cannot hold are refused', () => {
  for (const name of ['', 'User', 'a/b', 'a b', '-a', 'x'.repeat(40)])
    assert.throws(() => isoImage('CIDATA', [{ name, bytes: bytes('') }]), /cannot be the name/, name)
  const one = { name: 'a', bytes: bytes('') }
  assert.throws(() => isoImage('CIDATA', [one, one]), /cannot be the name/)
  assert.throws(() => isoImage('cidata', []), /cannot be the name/)
})

const blkid = needing('blkid')
test('blkid sees the label that cloud-init looks for', { skip: blkid.skip }, () => {
  assert.match(run(blkid.path, '-p', image), /LABEL="CIDATA" TYPE="iso9660"/)
})

const isoinfo = needing('isoinfo')
test('isoinfo lists and reads the Joliet names', { skip: isoinfo.skip }, () => {
  assert.match(run(isoinfo.path, '-d', '-i', image), /Volume id: CIDATA\n(?:.*\n)*Joliet with UCS level 3 found/)
  const names = run(isoinfo.path, '-J', '-f', '-i', image).trim().split('\n')
  assert.deepEqual(
    names.map((name) => name.replace(/;1$/, '')),
    ['/meta-data', '/network-config', '/user-data', '/vendor-data'],
  )
  for (const file of FILES.filter((one) => one.bytes.length > 0))
    assert.equal(run(isoinfo.path, '-J', '-i', image, '-x', `/${file.name};1`), new TextDecoder().decode(file.bytes))
})

const xorriso = needing('xorriso')
test('xorriso takes every file out as it was put in, without a complaint', { skip: xorriso.skip }, () => {
  const out = join(folder, 'out')
  const args = ['-abort_on', 'WARNING', '-osirrox', 'on', '-indev', image, '-extract', '/', out]
  const ran = spawnSync(xorriso.path, args, { encoding: 'utf8' })
  assert.equal(ran.status, 0, ran.stderr)
  assert.doesNotMatch(ran.stderr, /WARNING|SORRY|FAILURE/)
  for (const file of FILES) assert.deepEqual(new Uint8Array(readFileSync(join(out, file.name))), file.bytes, file.name)
})
