import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startSimulator } from '../../sim/serve.ts'
import { builtProgram, type GoProgram } from './go-programs.ts'
import { runClient } from './python.ts'

const CROFT = join(import.meta.dirname, '../../bin/croft')
const STEP_MS = 600_000

const OPENTOFU: GoProgram = {
  module: 'github.com/opentofu/opentofu',
  version: 'v1.10.0',
  at: './cmd/tofu',
  file: 'tofu-v1.10.0',
}

/** A provider, and the files of the tofu folder that it can make. */
interface Provider {
  readonly version: string
  readonly files: readonly string[]
  readonly resources: number
  /** What its state holds and croft has no kind for. */
  readonly notCarried: readonly string[]
}

/** 0.80 knows the files of Proxmox VE 8 for repositories, not those of 9. */
const BPG: readonly Provider[] = [
  { version: 'v0.80.0', files: ['machines.tf', 'site.tf'], resources: 25, notCarried: [] },
  {
    version: 'v0.111.1',
    files: ['machines.tf', 'site.tf', 'repositories.tf', 'newer-names.tf'],
    resources: 46,
    notCarried: ['proxmox_sdn_applier.all'],
  },
]

/** Each: what it lived through, or undefined after saying why it could not be had. */
export function tofuLives(): readonly { readonly name: string; live(): Promise<string | undefined> }[] {
  return BPG.map((provider) => ({
    name: `OpenTofu with bpg/proxmox ${provider.version}`,
    live: () => live(provider),
  }))
}

async function live({ version, files, resources, notCarried }: Provider): Promise<string | undefined> {
  const tofu = await builtProgram(OPENTOFU)
  if (typeof tofu === 'string') return tofu
  const module = 'github.com/bpg/terraform-provider-proxmox'
  const file = `terraform-provider-proxmox-${version}/terraform-provider-proxmox`
  const provider = await builtProgram({ module, version, at: '.', file })
  if (typeof provider === 'string') return provider
  const simulator = await startSimulator({ preset: 'homelab', port: 0, speed: 50, seed: 5 })
  const folder = mkdtempSync(join(tmpdir(), 'croft-tofu-'))
  try {
    for (const name of files) copyFileSync(join(import.meta.dirname, 'tofu', name), join(folder, name))
    const settings = join(folder, 'tofu.rc')
    writeFileSync(
      settings,
      `provider_installation {\n  dev_overrides { "bpg/proxmox" = "${dirname(provider.path)}" }\n  direct {}\n}\n`,
    )
    const env = {
      HOME: folder,
      CHECKPOINT_DISABLE: '1',
      TF_CLI_CONFIG_FILE: settings,
      TF_VAR_endpoint: `${simulator.endpoint}/`,
      TF_VAR_token: simulator.token,
    }
    const step = async (words: readonly string[], expected: RegExp) => {
      const ran = await runClient(tofu.path, [`-chdir=${folder}`, ...words, '-no-color'], env, STEP_MS)
      assert.match(ran.output, expected)
      assert.equal(ran.code, 0, ran.output)
    }
    const more = ['-var', 'memory=1536']
    await step(['apply', '-auto-approve'], new RegExp(`Resources: ${resources} added, 0 changed, 0 destroyed`))
    await step(['plan'], /No changes\./)
    await step(['apply', '-auto-approve', ...more], /Resources: 0 added, 2 changed, 0 destroyed/)
    await step(['plan', ...more], /No changes\./)
    await takeOver(folder, simulator, resources, notCarried)
    await step(['destroy', '-auto-approve', ...more], new RegExp(`Resources: ${resources} destroyed`))
    return undefined
  } finally {
    await simulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The state becomes manifests whose plan marks the guests and changes nothing; after that it is empty. */
async function takeOver(
  folder: string,
  simulator: { readonly endpoint: string; readonly fingerprint: string; readonly token: string },
  resources: number,
  notCarried: readonly string[],
): Promise<void> {
  const estate = join(folder, 'estate')
  mkdirSync(estate)
  writeFileSync(
    join(estate, 'proxmox.yaml'),
    `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "${simulator.endpoint}", fingerprint: "${simulator.fingerprint}", token: {env: PROXMOX_TOKEN}}
`,
  )
  const env = { HOME: folder, PROXMOX_TOKEN: simulator.token }
  const croft = (...words: readonly string[]) => runClient(CROFT, words, env, STEP_MS)
  const written = join(estate, 'imported.yaml')
  const imported = await croft('import', 'terraform', join(folder, 'terraform.tfstate'), '--write', written)
  const left = [...imported.output.matchAll(/^Not carried over: ([^:\n]+):/gm)].map(([, what]) => what)
  assert.deepEqual(left, notCarried, imported.output)
  assert.match(imported.output, new RegExp(`${resources - notCarried.length} objects imported`))
  assert.equal(imported.code, notCarried.length === 0 ? 0 : 2, imported.output)
  assert.doesNotMatch(readFileSync(written, 'utf8'), /hunter2|secret-123/)
  const state = ['--state', join(folder, 'croft.db')]
  const plan = await croft('plan', estate, ...state)
  assert.match(plan.output, /Plan: 0 to add, 0 to change, 0 to destroy, 4 to adopt/)
  assert.deepEqual(
    [...plan.output.matchAll(/^ +\d+\. (\w+)/gm)].map(([, verb]) => verb),
    ['mark', 'mark', 'mark', 'mark'],
    plan.output,
  )
  assert.equal((await croft('apply', estate, '--yes', ...state)).code, 0)
  const after = await croft('plan', estate, ...state)
  assert.equal(after.code, 0, after.output)
}
