import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { EXAMPLES, GROUP_OF } from '../src/cli/help.ts'
import { PRESET_NAMES } from '../src/kinds/addon/presets/registry.ts'
import { GUARDS } from '../src/plan/guards/registry.ts'
import { DEFINITIONS } from '../src/proxmox/registry.ts'
import { isTestCode } from './layers-rules.ts'
import { importsOf } from './layers-source.ts'

// What one more costs: its own file, the one that lists them, and its page. Hypervisors and channels have tests of their own.

const root = dirname(import.meta.dirname)
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const product = globSync('src/**/*.ts', { cwd: root }).filter((path) => !isTestCode(path))

const importers = new Map<string, string[]>()
for (const path of product)
  for (const target of new Set(importsOf({ path, text: read(path) }).map((one) => one.target)))
    importers.set(target, [...(importers.get(target) ?? []), path])

function ownFiles(folder: string, shared: readonly string[]): readonly string[] {
  return product.filter((path) => dirname(path) === folder && !shared.includes(basename(path)))
}

/** Product files that name it in a text, other than its own. */
function naming(name: string, own: string): readonly string[] {
  return product.filter((path) => path !== own && read(path).includes(`'${name}'`))
}

describe('a guard costs its file, a line of the registry and a row of docs/guards.md', () => {
  const files = ownFiles('src/plan/guards', ['consent.ts', 'guard.ts', 'objection.ts', 'registry.ts'])

  test('only the registry imports it', () => {
    assert.equal(files.length, GUARDS.length)
    for (const path of files) assert.deepEqual(importers.get(path), ['src/plan/guards/registry.ts'], path)
  })

  test('nothing else goes by its name', () => {
    // A deletion that blast-radius held stays held in the record. Removals of clusters are proved as those of things are.
    const known = ['src/engine/judge.ts: blast-radius', 'src/plan/clusters/removals.ts: not-of-this-directory']
    // `drift`, `quota` and the like are words of the field: they are in texts that mean no guard.
    const names = GUARDS.map(({ name }) => name).filter((name) => name.includes('-'))
    assert.ok(names.length >= 6)
    const found = names.flatMap((name) => {
      const own = files.find((path) => read(path).includes(`'${name}'`)) ?? ''
      return naming(name, own).map((path) => `${path}: ${name}`)
    })
    assert.deepEqual(found.toSorted(), known)
  })
})

test('a preset costs its file, a line of the registry and a row of docs/addons.md', () => {
  const files = ownFiles('src/kinds/addon/presets', ['fields.ts', 'preset.ts', 'registry.ts'])
  assert.deepEqual(files.map((path) => basename(path, '.ts')).toSorted(), PRESET_NAMES.toSorted())
  for (const path of files) assert.deepEqual(importers.get(path), ['src/kinds/addon/presets/registry.ts'], path)
  const pages = globSync('docs/kinds/*.md', { cwd: root })
  const rows = pages.flatMap((page) =>
    read(page)
      .split('\n')
      .filter((line) => line.startsWith('|') && PRESET_NAMES.filter((name) => line.includes(`\`${name}\``)).length > 2),
  )
  assert.deepEqual(rows, [], 'a list of all presets outside docs/addons.md')
})

test('a command costs its file, its declaration, its group and example, and its part of docs/cli.md', () => {
  const verbs = ownFiles('src/cli/verbs', [])
  assert.ok(verbs.length > 20)
  // One command may use another: selftest begins with what doctor does, and init ends with the role that it names.
  const outside = (path: string) => importers.get(path)?.filter((one) => !/^src\/cli\/(?:verbs|init)\//.test(one))
  for (const path of verbs) assert.deepEqual(outside(path), ['src/cli/program.ts'], path)
  const page = read('docs/cli.md')
  for (const path of verbs) {
    const name = basename(path, '.ts')
    assert.ok(name in GROUP_OF, `${name} is in no group of the help`)
    assert.ok(name in EXAMPLES, `${name} has no example`)
    assert.ok(page.includes(`croft ${name}`), `docs/cli.md does not have ${name}`)
  }
})

describe('a Proxmox setting costs a row of its table, its page, and a row of needs.ts if it refers to another', () => {
  test('only the tables list it, and it has a page', () => {
    assert.ok(DEFINITIONS.length > 30)
    for (const { name, kind } of DEFINITIONS) {
      const tables = product.filter((path) => dirname(path) === 'src/proxmox' && read(path).includes(`kind: '${kind}'`))
      assert.equal(tables.length, 1, `${kind} is in ${tables.join(', ')}`)
      const pages = globSync('docs/kinds/*.md', { cwd: root }).filter((page) => read(page).startsWith(`# ${kind}\n`))
      assert.equal(pages.length, 1, `pages of ${kind} (${name}): ${pages.join(', ')}`)
    }
  })

  test('of the rest of the product only few files go by its name', () => {
    // What a setting refers to, what else has such an entry (a Device, a machine under HA), and texts about one of them.
    const known = [
      'src/cli/init/found.ts: bridge',
      'src/cli/init/found.ts: dns',
      'src/drivers/proxmox/api-errors.ts: ha-rule',
      'src/drivers/proxmox/bridges.ts: bridge',
      'src/drivers/proxmox/bridges.ts: sdn-vnet',
      'src/drivers/proxmox/rest/read-settings.ts: usb-mapping',
      'src/kinds/device.ts: pci-mapping',
      'src/kinds/device.ts: usb-mapping',
      'src/kinds/settings/check-rules.ts: firewall-group',
      'src/kinds/settings/own-kind.ts: acl',
      'src/plan/implied-needs.ts: ha-resource',
    ]
    // Importers and the kinds of Crossplane's provider have names of their own for some settings: these are other tables.
    const others = /^src\/(proxmox\/|source\/foreign\/|kinds\/settings\/(needs|provider-(table|fields))\.ts)/
    // An APT repository of a HostConfig has the same name, and is no setting.
    const names = DEFINITIONS.filter(({ name }) => name !== 'apt-repository')
    const found = product
      .filter((path) => !others.test(path))
      .flatMap((path) => {
        const text = read(path)
        const isNamed = ({ name, kind }: (typeof DEFINITIONS)[number]) =>
          text.includes(kind) || (name.includes('-') && text.includes(`'${name}'`))
        return names.filter(isNamed).map(({ name }) => `${path}: ${name}`)
      })
    assert.deepEqual(found.toSorted(), known)
  })
})
