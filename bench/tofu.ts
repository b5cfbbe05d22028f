import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchStep } from './apply.ts'
import type { Command } from './measure.ts'
import type { Scenario } from './scenarios.ts'
import type { Simulator } from './simulator.ts'

/** OpenTofu and the directory that holds the bpg provider. */
export interface Tofu {
  readonly program: string
  readonly provider: string
}

export function tofuFrom(env: Readonly<Record<string, string | undefined>>): Tofu | undefined {
  const { CROFT_BENCH_TOFU: program, CROFT_BENCH_BPG: provider } = env
  return program === undefined || provider === undefined ? undefined : { program, provider }
}

/** The same machines and the same day as croft's. */
export function tofuCommands(
  tofu: Tofu,
  size: number,
  scenario: Scenario,
  simulator: Simulator,
  directory: string,
): readonly BenchStep[] {
  const home = join(directory, '.home')
  mkdirSync(home)
  const rc = join(directory, '.tofurc')
  writeFileSync(rc, `provider_installation {\n  dev_overrides { "bpg/proxmox" = "${tofu.provider}" }\n  direct {}\n}\n`)
  const command = (args: readonly string[]): Command => ({
    program: tofu.program,
    args: [`-chdir=${directory}`, ...args, '-no-color'],
    env: { HOME: home, TF_CLI_CONFIG_FILE: rc, CHECKPOINT_DISABLE: '1' },
    foreign: true,
  })
  const write = (memory: number) => () =>
    writeFileSync(join(directory, 'main.tf'), configuration(size, scenario, memory, simulator))
  return [
    { name: 'create', prepare: write(512), command: command(['apply', '-auto-approve']) },
    { name: 'no change', command: command(['plan']) },
    { name: 'memory of all', prepare: write(1024), command: command(['apply', '-auto-approve']) },
    { name: 'destroy', command: command(['destroy', '-auto-approve']) },
  ]
}

function configuration(
  size: number,
  { hosts, storage }: Scenario,
  memory: number,
  { endpoint, token }: Simulator,
): string {
  return `terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox" }
  }
}
provider "proxmox" {
  endpoint  = "${endpoint}/"
  api_token = "${token}"
  insecure  = true
}
resource "proxmox_virtual_environment_vm" "bench" {
  count     = ${size}
  node_name = element(${JSON.stringify(hosts)}, count.index)
  name      = "bench-\${count.index}"
  vm_id     = 2000 + count.index
  started   = false
  cpu { cores = 1 }
  memory { dedicated = ${memory} }
  disk {
    datastore_id = "${storage}"
    interface    = "scsi0"
    size         = 1
    file_format  = "raw"
  }
  network_device { bridge = "vmbr0" }
}
`
}
