import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { startSimulator } from '../../sim/serve.ts'
import { addStorage } from '../../sim/world/create-world.ts'
import type { World } from '../../sim/world/types.ts'
import { createKeyPair, issueCertificate, privateKeyPem } from '../../src/lib/x509.ts'
import { commandsOf } from '../docs/printed.ts'
import { builtProgram, type GoProgram } from './go-programs.ts'
import { runClient } from './python.ts'

const CROFT = join(import.meta.dirname, '../../bin/croft')
const STEP_MS = 600_000
const SCHEMA_BYTES = 64 * 1024 * 1024

const OPENTOFU: GoProgram = {
  module: 'github.com/opentofu/opentofu',
  version: 'v1.10.0',
  at: './cmd/tofu',
  file: 'tofu-v1.10.0',
}

/** The environment of OpenTofu, and where it is. */
type Typing = Readonly<Record<string, string>> & { readonly tofu: string }

/** A provider, and the files of the tofu folder that it can make. */
interface Provider {
  readonly version: string
  readonly files: readonly string[]
  readonly resources: number
  readonly guests: number
  /** What its state holds and croft has no kind for. */
  readonly notCarried: readonly string[]
  /** Resources of the provider that the files do not make, and why. */
  readonly unmade?: Readonly<Record<string, string>>
}

/** 0.80 knows the files of Proxmox VE 8 for repositories, not those of 9. */
const BPG: readonly Provider[] = [
  { version: 'v0.80.0', files: ['machines.tf', 'site.tf'], resources: 25, guests: 4, notCarried: [] },
  {
    version: 'v0.111.1',
    files: ['machines.tf', 'site.tf', 'repositories.tf', 'newer-names.tf', 'rest.tf'],
    resources: 67,
    guests: 5,
    notCarried: [
      'proxmox_pool_membership.twin',
      'proxmox_sdn_applier.all',
      'proxmox_sdn_controller_evpn.c',
      'proxmox_vm.plain',
    ],
    unmade: {
      acme_certificate: 'an order to an authority, which the simulator does not have; no kind',
      ceph_pool: 'no kind',
      hagroup: 'Proxmox VE 9, which the simulator is, refuses groups',
      hardware_mapping_dir: 'no kind',
      oci_image: 'no kind',
      realm_sync: 'one action and no state',
      sdn_fabric_node_openfabric: 'no kind',
      sdn_fabric_node_ospf: 'no kind',
      sdn_fabric_openfabric: 'no kind',
      sdn_fabric_ospf: 'no kind',
      vm2: 'the older name of proxmox_vm',
    },
  },
]

/** Each: what it lived through, or undefined after saying why it could not be had. */
export function tofuLives(): readonly { readonly name: string; live(): Promise<string | undefined> }[] {
  return BPG.map((provider) => ({
    name: `OpenTofu with bpg/proxmox ${provider.version}`,
    live: () => live(provider),
  }))
}

async function live(made: Provider): Promise<string | undefined> {
  const { version, files, resources } = made
  const tofu = await builtProgram(OPENTOFU)
  if (typeof tofu === 'string') return tofu
  const module = 'github.com/bpg/terraform-provider-proxmox'
  const file = `terraform-provider-proxmox-${version}/terraform-provider-proxmox`
  const provider = await builtProgram({ module, version, at: '.', file })
  if (typeof provider === 'string') return provider
  const simulator = await startSimulator({ preset: 'homelab', port: 0, speed: 50, seed: 5 })
  const folder = mkdtempSync(join(tmpdir(), 'croft-tofu-'))
  const downloads = createServer((_, response) => response.end(Buffer.alloc(4096, 7)))
  prepare(simulator.datacentre.world)
  try {
    await new Promise<void>((resolve) => downloads.listen(0, '127.0.0.1', resolve))
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
      ...(files.includes('rest.tf') ? restOf(downloads.address() as AddressInfo) : {}),
    }
    const step = async (words: readonly string[], expected: RegExp) => {
      const ran = await runClient(tofu.path, [`-chdir=${folder}`, ...words, '-no-color'], env, STEP_MS)
      assert.match(ran.output, expected)
      assert.equal(ran.code, 0, ran.output)
    }
    if (made.unmade !== undefined) {
      const words = [`-chdir=${folder}`, 'providers', 'schema', '-json']
      const { stdout } = await promisify(execFile)(tofu.path, words, { env, maxBuffer: SCHEMA_BYTES })
      const texts = files.map((name) => readFileSync(join(folder, name), 'utf8'))
      assert.deepEqual(missingFrom(stdout, texts), Object.keys(made.unmade).toSorted())
    }
    const more = ['-var', 'memory=1536']
    await step(['apply', '-auto-approve'], new RegExp(`Resources: ${resources} added, 0 changed, 0 destroyed`))
    await step(['plan'], /No changes\./)
    await step(['apply', '-auto-approve', ...more], /Resources: 0 added, 2 changed, 0 destroyed/)
    await step(['plan', ...more], /No changes\./)
    await takeOver(folder, simulator, made, { ...env, tofu: tofu.path })
    await step(['destroy', '-auto-approve', ...more], new RegExp(`Resources: ${resources} destroyed`))
    return undefined
  } finally {
    downloads.close()
    await simulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const ROOT_PASSWORD = 'canary-hunter2'

/** A volume group for a storage entry to name, and the way in that an ACME account needs. */
function prepare(world: World): void {
  const options = { thinpool: 'data', vgname: 'pve' }
  addStorage(world, { id: 'local-lvm', type: 'lvmthin', content: ['images'], path: '', options })
  const root = world.access.users.get('root@pam')
  assert.ok(root !== undefined)
  root.password = ROOT_PASSWORD
}

function restOf({ port }: AddressInfo): Readonly<Record<string, string>> {
  const { privateKey, publicKey } = createKeyPair()
  const subject = { commonName: 'still-fawn.example.test' }
  const dayMs = 86_400_000
  const { pem } = issueCertificate(
    {
      subject,
      publicKey,
      altNames: [subject.commonName],
      usages: ['serverAuth'],
      notBefore: new Date(Date.now() - dayMs),
      notAfter: new Date(Date.now() + 365 * dayMs),
    },
    { subject, privateKey },
  )
  return {
    TF_VAR_files: `http://127.0.0.1:${port}`,
    TF_VAR_root_password: ROOT_PASSWORD,
    TF_VAR_key: privateKeyPem(privateKey),
    TF_VAR_certificate: pem,
  }
}

/** Types of the provider, without their prefix, that no file makes. */
function missingFrom(schema: string, files: readonly string[]): readonly string[] {
  const { provider_schemas: schemas } = JSON.parse(schema) as {
    provider_schemas: Readonly<Record<string, { resource_schemas: Readonly<Record<string, unknown>> }>>
  }
  const short = (type: string) =>
    type === 'proxmox_vm' ? type : type.replace(/^proxmox_(?:virtual_environment_)?/, '')
  const made = files.flatMap((text) => [...text.matchAll(/^resource "(\w+)"/gm)].map(([, type]) => short(type ?? '')))
  const known = Object.values(schemas).flatMap((one) => Object.keys(one.resource_schemas).map(short))
  return [...new Set(known)].filter((type) => !made.includes(type)).toSorted()
}

/** What the page about this import prints, typed beside the configuration. */
async function typed(folder: string, { tofu, ...env }: Typing) {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  symlinkSync(tofu, join(bin, 'terraform'))
  symlinkSync(CROFT, join(bin, 'croft'))
  const commands = commandsOf('docs/import/terraform.md').map(({ text }) => text)
  const script = ['set -e', `cd ${folder}`, ...commands].join('\n')
  return runClient('bash', ['-c', script], { ...env, PATH: `${bin}:${process.env.PATH ?? ''}` }, STEP_MS)
}

/** The state becomes manifests whose plan marks the guests and changes nothing; after that it is empty. */
async function takeOver(
  folder: string,
  simulator: { readonly endpoint: string; readonly fingerprint: string; readonly token: string },
  { resources, notCarried, guests }: Provider,
  typing: Typing,
): Promise<void> {
  const estate = join(folder, 'infra')
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
  const written = join(estate, 'terraform.yaml')
  const imported = await typed(folder, typing)
  const left = [...imported.output.matchAll(/^Not carried over: ([^:\n]+):/gm)].map(([, what]) => what)
  assert.deepEqual(left, notCarried, imported.output)
  assert.match(imported.output, new RegExp(`^Imported from .*: ${resources - notCarried.length} objects`, 'm'))
  assert.equal(imported.code, notCarried.length === 0 ? 0 : 2, imported.output)
  assert.doesNotMatch(readFileSync(written, 'utf8'), /hunter2|secret-123/)
  const state = ['--state', join(folder, 'croft.db')]
  const plan = await croft('plan', estate, ...state)
  assert.match(plan.output, new RegExp(`Plan: 0 to add, 0 to change, 0 to destroy, ${guests} to adopt`))
  assert.deepEqual(
    [...plan.output.matchAll(/^ +\d+\. (\w+)/gm)].map(([, verb]) => verb),
    Array.from({ length: guests }, () => 'mark'),
    plan.output,
  )
  assert.equal((await croft('apply', estate, '--yes', ...state)).code, 0)
  const after = await croft('plan', estate, ...state)
  assert.equal(after.code, 0, after.output)
}
