import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startSimulator } from '../../sim/serve.ts'
import { clientsOrSkip, runClient } from './python.ts'

/** The last line of a play: `localhost : ok=8 changed=6 unreachable=0 failed=0 …`. */
function recap(output: string): Readonly<Record<string, number>> {
  const line = /^localhost\s+:\s+(.*)$/m.exec(output)?.[1] ?? ''
  return Object.fromEntries([...line.matchAll(/(\w+)=(\d+)/g)].map((match) => [match[1] ?? '', Number(match[2])]))
}

/** Runs playbooks of this folder against a simulator of their own. */
export async function withPlays(
  context: TestContext,
  body: (
    play: (file: string) => Promise<Readonly<Record<string, number>>>,
    simulator: Awaited<ReturnType<typeof startSimulator>>,
  ) => Promise<void>,
): Promise<void> {
  const clients = await clientsOrSkip(context)
  if (clients === undefined) return
  const simulator = await startSimulator({ preset: 'homelab', port: 0, speed: 200, seed: 5 })
  const folder = mkdtempSync(join(tmpdir(), 'croft-ansible-'))
  try {
    const { hostname, port } = new URL(simulator.endpoint)
    const [id = '', secret = ''] = simulator.token.split('=')
    const [user = '', name = ''] = id.split('!')
    const given = { api_host: hostname, api_port: Number(port), api_user: user, api_token_id: name }
    const env = {
      ANSIBLE_COLLECTIONS_PATH: clients.collections,
      ANSIBLE_HOME: folder,
      ANSIBLE_LOCAL_TEMP: folder,
      ANSIBLE_LOCALHOST_WARNING: 'false',
      ANSIBLE_INVENTORY_UNPARSED_WARNING: 'false',
      ANSIBLE_NOCOLOR: '1',
      ANSIBLE_PIPELINING: 'true',
      ANSIBLE_PYTHON_INTERPRETER: clients.bin('python'),
      PYTHONWARNINGS: 'ignore',
      LC_ALL: 'C.UTF-8',
      PVE_SECRET: secret,
    }
    const play = async (file: string) => {
      const args = ['-c', 'local', '-i', 'localhost,', '-e', JSON.stringify(given), `${import.meta.dirname}/${file}`]
      const ran = await runClient(clients.bin('ansible-playbook'), args, env)
      assert.equal(ran.code, 0, ran.output)
      assert.doesNotMatch(ran.output, new RegExp(secret), 'the secret is not in the output')
      return recap(ran.output)
    }
    await body(play, simulator)
  } finally {
    await simulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
