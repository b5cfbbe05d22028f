import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { startSimulator } from '../../sim/serve.ts'
import { builtSession, type GoSession } from './go-programs.ts'
import { runClient } from './python.ts'
import { sopsLife } from './sops.ts'
import { tofuLives } from './tofu.ts'

/*
 * `npm run test:clients`: programs that other people wrote for Proxmox, as they are published, live whole lives on the
 * simulator, and sops writes what croft reads. Those in Python are part of `npm test`; those in Go are built here once, from the module proxy, and kept
 * in ~/.cache/croft/clients. What cannot be had is skipped with a line.
 */
const ROOT = join(import.meta.dirname, '..', '..')

const SESSION_MS = 600_000

const SESSIONS: readonly (GoSession & { readonly name: string })[] = [
  {
    name: 'go-proxmox v0.4.0',
    module: 'github.com/luthermonson/go-proxmox',
    version: 'v0.4.0',
    source: join(import.meta.dirname, 'go', 'go_proxmox.go'),
  },
  {
    name: 'cluster-api-provider-proxmox v0.8.2, its own client',
    module: 'github.com/ionos-cloud/cluster-api-provider-proxmox',
    version: 'v0.8.2',
    source: join(import.meta.dirname, 'go', 'capmox_client.go'),
    sums: ['h1:pX/kOzo21olDV+6cbpy5SNaPHiSA3kXz4SOgYVZTOUY=', 'h1:6Taf3RscB2stY2W0uVIMPdZ6NSrUCDd/9xkYgIy4sWI='],
  },
  {
    name: "proxmox-api-go of April 2024 (the client of Telmate's provider and of packer's plugin)",
    module: 'github.com/Telmate/proxmox-api-go',
    version: 'v0.0.0-20240409105641-32c480fe008e',
    source: join(import.meta.dirname, 'go', 'proxmox_api_go.go'),
  },
  {
    name: "packer's Proxmox plugin v1.1.1",
    module: 'github.com/hashicorp/packer-plugin-proxmox',
    version: 'v1.1.1',
    source: join(import.meta.dirname, 'go', 'packer_plugin.go'),
  },
]

const LIVES = [
  ...SESSIONS.map(({ name, ...session }) => ({ name, live: () => lived(session) })),
  ...tofuLives(),
  sopsLife(),
]

process.exitCode = await main()

async function main(): Promise<number> {
  let failed = 0
  for (const { name, live } of LIVES) {
    const startedMs = Date.now()
    try {
      const missing = await live()
      if (missing === undefined) print(`✔ ${name} (${Math.round((Date.now() - startedMs) / 1000)} s)`)
      else print(`- ${name} is skipped: ${missing}`)
    } catch (error) {
      failed += 1
      print(`✖ ${name}\n${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const python = spawnSync(
    process.execPath,
    [join(ROOT, 'bin', 'run'), join(ROOT, 'scripts', 'test.ts'), 'test/clients'],
    {
      cwd: ROOT,
      stdio: 'inherit',
    },
  )
  return failed === 0 && python.status === 0 ? 0 : 1
}

/** Undefined: it took every step. A text: why it cannot be had. */
async function lived(session: GoSession): Promise<string | undefined> {
  const built = await builtSession(session)
  if (typeof built === 'string') return built
  const simulator = await startSimulator({ preset: 'homelab', port: 0, speed: 50, seed: 5 })
  try {
    const ran = await runClient(built.path, [simulator.endpoint, simulator.token], {}, SESSION_MS)
    if (ran.code !== 0 || !ran.output.endsWith('every step was taken\n')) throw new Error(ran.output)
    return undefined
  } finally {
    await simulator.close()
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
