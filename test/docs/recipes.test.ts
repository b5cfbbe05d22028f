import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'

// The recipes of CONTRIBUTING, done step by step in a copy: what a step leaves out fails as the page says, and with all of
// them the program has one field and one guard more.

const ROOT = join(import.meta.dirname, '../..')
let room: string
before(() => {
  room = mkdtempSync(join(tmpdir(), 'croft-recipes-'))
  symlinkSync(join(ROOT, 'node_modules'), join(room, 'node_modules'))
  for (const path of ['src', 'bin', 'package.json', 'docs/guards.md', 'docs/k3s.md'])
    cpSync(join(ROOT, path), join(room, path), { recursive: true })
})
after(() => rmSync(room, { recursive: true, force: true }))

function insert(path: string, anchor: string, line: string): void {
  const file = join(room, path)
  const text = readFileSync(file, 'utf8')
  assert.ok(text.includes(anchor), `${path} has no line ${anchor}`)
  writeFileSync(file, text.replace(anchor, `${line}\n${anchor}`))
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(room, path)), { recursive: true })
  writeFileSync(join(room, path), text)
}

function ran(...words: readonly string[]) {
  const env = { ...process.env, HOME: room, NODE_TEST_CONTEXT: undefined }
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: room, env, encoding: 'utf8' })
  return { code: status, text: `${stdout}${stderr}` }
}

const tested = (path: string) => ran('--test', path)

/** Files that a recipe names. */
function namedIn(recipe: string): ReadonlySet<string> {
  const section =
    readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').split(`## ${recipe}\n`)[1]?.split('\n## ')[0] ?? ''
  return new Set([...section.matchAll(/`((?:src|docs|test)\/[\w./-]+)`/g)].map(([, path = '']) => path))
}

describe('add a field of a VM', () => {
  const STEPS = {
    'src/drivers/proxmox/vm/options.ts': ["  flag('tablet',", "  flag('localTime', 'localtime', 'restart', false),"],
    'src/model/vm.ts': ['  readonly tablet?: boolean', '  readonly localTime?: boolean'],
    'src/kinds/crossplane/vm-schema.ts': ['  tabletDevice: on,', '  localTime: on,'],
    'src/kinds/crossplane/vm-spec.ts': ['    tablet: fields.tabletDevice,', '    localTime: fields.localTime,'],
    'src/kinds/descriptions/crossplane.ts': [
      "  tabletDevice: '",
      "  localTime: 'Keep the clock in the time of the host.',",
    ],
    'src/drivers/proxmox/import/basics.ts': [
      "    tabletDevice: unless(true, from.flag('tablet')),",
      "    localTime: unless(false, from.flag('localtime')),",
    ],
    'src/drivers/proxmox/vm/testing/option-table.ts': [
      "  simple('tablet',",
      "  simple('local time', { localTime: true }, 'localtime', '1', undefined, ['localTime', false, true, 'restart']),",
    ],
  } as const
  // Tables of a test that compares them, a page that a program writes, and a privilege that a pattern has already.
  const OTHERS = ['src/drivers/proxmox/doctor/option-privileges.ts', 'test/simulation/f39-fields.ts']
  const PAGES = ['docs/fields.md', 'docs/kinds/environment-vm.md', 'test/docs/recipes.test.ts']

  test('its files are those of the recipe', () => {
    assert.deepEqual(
      [...namedIn('Add a field of a VM')].toSorted(),
      [...Object.keys(STEPS), ...OTHERS, ...PAGES].toSorted(),
    )
  })

  test('with its steps croft takes it, explains it, writes it, compares it and imports it; without the row it does not', () => {
    const [row, ...rest] = Object.entries(STEPS)
    assert.ok(row)
    for (const [path, [anchor, line]] of rest) insert(path, anchor, line)
    const options = 'src/drivers/proxmox/vm/options.test.ts'
    assert.match(
      tested(options).text,
      /not ok .*local time: creates|✖ local time: creates/,
      'without its row it is not written',
    )
    insert(row[0], row[1][0], row[1][1])
    const all = tested(options)
    assert.equal(all.code, 0, all.text.slice(-3000))
    const explained = ran('bin/croft', 'explain', 'environmentvm.spec.forProvider.localTime')
    assert.match(explained.text, /Keep the clock in the time of the host\./)
    write(
      'probe.ts',
      `import { importBasics } from './src/drivers/proxmox/import/basics.ts'
import { readingOf } from './src/drivers/proxmox/import/reading.ts'
console.log(JSON.stringify(importBasics(readingOf({ localtime: 1 })).localTime))
`,
    )
    assert.match(ran('bin/run', 'probe.ts').text, /^true$/m)
  })
})

describe('add a guard', () => {
  const REGISTRY = 'src/plan/guards/registry.ts'

  test('its files are those of the recipe', () => {
    assert.deepEqual(
      [...namedIn('Add a guard')].toSorted(),
      ['docs/guards.md', 'src/plan/guards/', REGISTRY].toSorted(),
    )
  })

  test('with its file, its line and its row it is asked; without the row the page is said to lack it', () => {
    write(
      'src/plan/guards/no-fridays.ts',
      `import { policyGuard } from './guard.ts'

export const noFridays = policyGuard('no-fridays', 'every write on a Friday', ({ key }) => ({
  reason: \`\${key} waits for Monday\`,
  allow: 'wait until Monday',
}))
`,
    )
    insert(REGISTRY, 'import { observeOnly }', "import { noFridays } from './no-fridays.ts'")
    insert(REGISTRY, '  observeOnly,', '  noFridays,')
    const registry = 'src/plan/guards/registry.test.ts'
    assert.match(tested(registry).text, /no-fridays/, 'the page lacks it')
    insert('docs/guards.md', '| `observe-only` |', '| `no-fridays` | every write on a Friday | wait until Monday |')
    const passed = tested(registry)
    assert.equal(passed.code, 0, passed.text.slice(-3000))
    write(
      'probe.ts',
      `import { GUARDS } from './src/plan/guards/registry.ts'
const guard = GUARDS.find(({ name }) => name === 'no-fridays')
const entry = { key: 'Machine/a', uid: 'u', connection: 'c', type: 'vm', action: { do: 'create', externalId: '1', host: 'h', steps: [], reason: '' } }
console.log(JSON.stringify(guard.judge(entry.action, { entry, policy: {} }, {})))
`,
    )
    assert.match(ran('bin/run', 'probe.ts').text, /Machine\/a waits for Monday/)
  })
})
