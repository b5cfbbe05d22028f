import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { endAll, estateAt, scratch, start, startSimulator } from './children.ts'

after(endAll)

const DEFINITION = `apiVersion: apiextensions.crossplane.io/v1
kind: CompositeResourceDefinition
metadata: {name: xteams.homelab.example.org}
spec:
  group: homelab.example.org
  names: {kind: XTeam, plural: xteams}
  claimNames: {kind: Team, plural: teams}
  versions:
    - name: v1alpha1
      served: true
      referenceable: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {note: {type: string}}}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: teams}
spec:
  compositeTypeRef: {apiVersion: homelab.example.org/v1alpha1, kind: XTeam}
  resources:
    - name: pool
      base:
        apiVersion: virtualenvironmentpool.crossplane.io/v1alpha1
        kind: EnvironmentPool
        metadata: {name: team}
        spec: {deletionPolicy: Delete, forProvider: {poolId: team, comment: x}}
      patches:
        - {type: FromCompositeFieldPath, fromFieldPath: spec.note, toFieldPath: spec.forProvider.comment}
`
const CLAIM = `apiVersion: homelab.example.org/v1alpha1
kind: Team
metadata: {name: red, namespace: default}
spec: {note: the red team}
`

interface Planned {
  readonly entries: readonly { readonly key: string; readonly action: Readonly<Record<string, unknown>> }[]
}

test('[F-09] a definition that is removed before its instances deletes nothing that they made', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const estate = path.join(cwd, 'estate')
  estateAt(estate, simulator, { 'definition.yaml': DEFINITION, 'claim.yaml': CLAIM })
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token, CROFT_STATE: path.join(cwd, 'state.db') }
  const ended = (...words: string[]) => start(words, { cwd, env }).ended
  const planned = async () => {
    const { stdout, stderr } = await ended('plan', 'estate', '-o', 'json')
    assert.notEqual(stdout, '', stderr)
    const { entries } = JSON.parse(stdout) as Planned
    return entries.find(({ key }) => key === 'EnvironmentPool/team')?.action ?? {}
  }
  const made = await ended('apply', 'estate', '--yes')
  assert.equal(made.code, 0, made.stdout + made.stderr)

  rmSync(path.join(estate, 'definition.yaml'))
  const held = await planned()
  assert.equal(held.do, 'hold', JSON.stringify(held))
  assert.equal(held.guard, 'definition-gone')
  assert.match(
    String(held.reason),
    /EnvironmentPool\/team is a part of Team\/default\/red, and its definition CompositeResourceDefinition\/xteams\.homelab\.example\.org is gone/,
  )
  const stayed = await ended('apply', 'estate', '--yes')
  assert.equal(stayed.code, 3, stayed.stdout + stayed.stderr)

  writeFileSync(path.join(estate, 'definition.yaml'), DEFINITION)
  assert.equal((await planned()).do ?? 'nothing', 'nothing', 'it is back')
  rmSync(path.join(estate, 'claim.yaml'))
  assert.equal((await planned()).do, 'delete', 'the instance was removed')
  rmSync(path.join(estate, 'definition.yaml'))
  assert.equal((await planned()).do, 'delete', 'both were')
})
