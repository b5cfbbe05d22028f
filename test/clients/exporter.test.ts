import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startSimulator } from '../../sim/serve.ts'
import { clientsOrSkip } from './python.ts'

const WAIT_MS = 120_000

test('prometheus-pve-exporter, as published, scrapes the simulated Proxmox', async (context) => {
  const clients = await clientsOrSkip(context)
  if (clients === undefined) return
  const simulator = await startSimulator({ preset: 'homelab', port: 0, seed: 5 })
  const folder = mkdtempSync(join(tmpdir(), 'croft-exporter-'))
  const port = await freePort()
  const [id = '', secret = ''] = simulator.token.split('=')
  const [user, name] = id.split('!')
  const config = join(folder, 'pve.yml')
  writeFileSync(
    config,
    `default:\n  user: ${user}\n  token_name: ${name}\n  token_value: ${secret}\n  verify_ssl: false\n`,
    { mode: 0o600 },
  )
  // It starts workers, which are ended with it as one group.
  const child = spawn(
    clients.bin('python'),
    ['-W', 'ignore', '-m', 'pve_exporter', '--config.file', config, '--web.listen-address', `127.0.0.1:${port}`],
    { detached: true, stdio: 'ignore' },
  )
  try {
    const target = new URL(simulator.endpoint).host
    const text = await scraped(`http://127.0.0.1:${port}/pve?target=${target}&cluster=1&node=1`)
    assert.match(text, /^pve_up\{id="node\/fun-bedbug"\} 1\.0$/m)
    assert.match(text, /^pve_up\{id="qemu\/108"\} 1\.0$/m)
    assert.match(text, /^pve_guest_info\{[^}]*name="k3s-vm-still-fawn"[^}]*\} 1\.0$/m)
    assert.match(text, /^pve_cpu_usage_limit\{id="qemu\/108"\} 4\.0$/m)
    assert.match(text, /^pve_memory_size_bytes\{id="qemu\/108"\} 1\.7\d+e\+10$/m)
    assert.match(text, /^pve_disk_size_bytes\{id="storage\/fun-bedbug\/local-zfs"\} \S+$/m)
    assert.match(text, /^pve_version_info\{[^}]*release="9\.2"[^}]*\} 1\.0$/m)
    assert.match(text, /^pve_cluster_info\{[^}]*nodes="3"[^}]*\} 1\.0$/m)
    assert.match(text, /^pve_onboot_status\{[^}]*id="qemu\/109"[^}]*\} 1\.0$/m)
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await simulator.close()
    rmSync(folder, { recursive: true })
  }
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => {
    server.close(resolve)
  })
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}

/** The first good answer. Until the exporter listens there is none. */
async function scraped(url: string): Promise<string> {
  const until = Date.now() + WAIT_MS
  let last = 'nothing'
  while (Date.now() < until) {
    try {
      const answer = await fetch(url)
      const text = await answer.text()
      if (answer.ok) return text
      last = `${answer.status} ${text}`
    } catch (error) {
      last = String(error)
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`the exporter gave no metrics: ${last}`)
}
