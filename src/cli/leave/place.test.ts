import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { whyNotThere } from './place.ts'

test('keys go nowhere that Git or the manifests hold, whatever the path looks like', (t) => {
  const room = realpathSync(mkdtempSync(path.join(tmpdir(), 'leave-')))
  t.after(() => rmSync(room, { recursive: true }))
  const at = (...names: readonly string[]) => path.join(room, ...names)
  for (const folder of ['repo/.git', 'repo/infra/nodes', 'linked/infra', 'plain/infra', 'outside'])
    mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('linked/.git'), 'gitdir: elsewhere\n')
  symlinkSync(at('repo/infra'), at('outside/in'))
  symlinkSync(at('plain/infra'), at('outside/manifests'))
  symlinkSync(at('repo/keys'), at('outside/dangling'))
  const refused: readonly (readonly [directory: string, to: string])[] = [
    ['repo/infra', 'repo/keys'],
    ['repo/infra', 'repo'],
    ['repo/infra', 'repo/infra'],
    ['repo/infra', 'repo/infra/keys/deeper'],
    ['repo/infra', 'outside/in/keys'],
    ['repo/infra', 'outside/dangling'],
    ['plain/infra', 'repo/keys'],
    ['plain/infra', 'linked/keys'],
    ['plain/infra', 'plain/infra'],
    ['plain/infra', 'plain/infra/keys'],
    ['plain/infra', 'outside/manifests/keys'],
  ]
  for (const [directory, to] of refused)
    assert.match(whyNotThere(at(directory), at(to)) ?? 'accepted', /Git|manifests|nowhere/, `${directory}: ${to}`)
  for (const [directory, to] of [
    ['repo/infra', 'outside'],
    ['repo/infra', 'outside/new/deeper'],
    ['repo/infra', 'repo-keys'],
    ['plain/infra', 'plain/keys'],
    ['plain/infra', 'plain/infra-keys'],
  ] as const)
    assert.equal(whyNotThere(at(directory), at(to)), undefined, `${directory}: ${to}`)
})
