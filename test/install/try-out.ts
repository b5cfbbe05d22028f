import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** What a person does next with an installed croft: its own simulator, an example, a plan. */
export async function planAgainstSimulator(
  croft: string,
  example: string,
  directory: string,
  own: Readonly<Record<string, string>>,
): Promise<void> {
  const env = { ...process.env, ...own }
  const simulator = spawn(croft, ['sim', '--port', '0'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const { value: line } = await createInterface(simulator.stdout)[Symbol.asyncIterator]().next()
    const { endpoint, fingerprint, token } = JSON.parse(String(line)) as Record<string, string>
    const infra = join(directory, 'infra')
    cpSync(example, infra, { recursive: true })
    const connection = join(infra, 'proxmox.yaml')
    const text = readFileSync(connection, 'utf8').replace(
      /endpoint: .*/,
      `endpoint: ${endpoint}\n  fingerprint: "${fingerprint}"`,
    )
    writeFileSync(connection, text)
    const planned = spawnSync(croft, ['plan', infra], {
      encoding: 'utf8',
      env: { ...env, PROXMOX_TOKEN: token },
    })
    assert.equal(planned.status, 2, `${planned.stdout}${planned.stderr}`)
    assert.match(planned.stdout, /^Plan: \d+ to add, /m)
  } finally {
    simulator.kill('SIGTERM')
  }
}
