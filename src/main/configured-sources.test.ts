import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { savedPlanAt } from '../cli/saved-plan.ts'
import { LIMITS } from '../lib/limits.ts'
import { revisionAt } from './configured-sources.ts'
import { load } from './estate.ts'

test('[S-06] a command that is given the configuration of croft run holds each source to its grant', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'croft-configured-'))
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text)
  try {
    mkdirSync(join(directory, 'admin'))
    mkdirSync(join(directory, 'lab'))
    write(
      'admin/pve.yaml',
      'apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: home}\nspec: {endpoint: "https://127.0.0.1:8006", token: {env: TOKEN}}\n',
    )
    const vm = (name: string, host: string) =>
      `---\napiVersion: virtualenvironmentvm.crossplane.io/v1alpha1\nkind: EnvironmentVM\nmetadata: {name: ${name}}\nspec: {forProvider: {nodeName: ${host}}}\n`
    write('lab/vm.yaml', vm('lab-a', 'cow') + vm('lab-b', 'horse'))
    const grant = 'grant: {kinds: [EnvironmentVM], connections: [home], hosts: [cow]}'
    write(
      'croft.yaml',
      `sources:\n- {name: admin, directory: ${directory}/admin}\n- {name: lab, directory: ${directory}/lab, ${grant}}\n`,
    )
    const { estate } = await load(join(directory, 'croft.yaml'))
    assert.deepEqual(
      estate.resources.map(({ key }) => key),
      ['EnvironmentVM/lab-a'],
    )
    const [problem] = estate.problems.filter(({ severity }) => severity === 'error')
    assert.equal(problem?.code, 'outside-grant')
    assert.equal(problem?.origin.file, 'lab:vm.yaml')
    assert.equal(problem?.origin.line, 10)
    await assert.rejects(load(join(directory, 'lab/vm.yaml')), /is a manifest, and croft works on the whole directory/)
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('[S-55] a file of somebody else that is taken for a configuration or a plan is not read when it is too large', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'croft-configured-'))
  const file = join(directory, 'plan')
  try {
    // Parsed as YAML it would take minutes; its size alone must refuse it.
    writeFileSync(file, `[${'{},'.repeat(LIMITS.configurationBytes / 3)}{}]`)
    await assert.rejects(revisionAt(file), /is a file with more than 262144 bytes and no configuration of croft run/)
    assert.equal(savedPlanAt(file), undefined)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
