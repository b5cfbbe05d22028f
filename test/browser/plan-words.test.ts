import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idleWords } from '../../web/plan-words.ts'

type Shown = Parameters<typeof idleWords>[0]
const SOURCE = { name: 'home', remote: 'git', ref: 'main', commit: 'a1b2c3d4e5' }
const WELL: Shown = { ready: true, sources: [SOURCE], connections: [] }

for (const [what, more, expected] of [
  ['all is done', {}, 'ok Nothing to do: Git and the world agree.'],
  ['nobody has looked yet', { ready: false }, 'busy No plan yet: croft is looking'],
  [
    'the newest commit has an error',
    { sources: [{ ...SOURCE, trouble: 'bad.yaml:4' }] },
    'warn Nothing to do for what is in force: The newest commit of home is not in force; a1b2c3d, which is in force, needs no change.',
  ],
  [
    'the repository does not answer',
    { sources: [{ ...SOURCE, trouble: 'refused', unreachable: true }] },
    'warn Nothing to do for what is in force: home cannot be reached; a1b2c3d,',
  ],
  [
    'Proxmox does not answer',
    { connections: [{ name: 'default', driver: 'proxmox', endpoint: 'e', state: 'unreachable' }] },
    'warn Nothing that croft can plan: The connection default is unreachable.',
  ],
] as const satisfies readonly (readonly [string, Partial<Shown>, string])[])
  test(`an empty plan: ${what}`, () => {
    const { icon, title, text } = idleWords({ ...WELL, ...more })
    assert.ok(`${icon} ${title}: ${text}`.startsWith(expected), `${icon} ${title}: ${text}`)
  })
