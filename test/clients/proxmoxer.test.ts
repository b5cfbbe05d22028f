import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSimulator } from '../../sim/serve.ts'
import { clientsOrSkip, runClient } from './python.ts'

test('proxmoxer, as published, works a whole day against the simulated Proxmox', async (context) => {
  const clients = await clientsOrSkip(context)
  if (clients === undefined) return
  const simulator = await startSimulator({ preset: 'homelab', port: 0, speed: 200, seed: 5 })
  try {
    const { hostname, port } = new URL(simulator.endpoint)
    const script = `${import.meta.dirname}/proxmoxer_session.py`
    const ran = await runClient(clients.bin('python'), ['-W', 'ignore', script, hostname, port, simulator.token])
    assert.match(ran.output, /every step was taken\s*$/)
    assert.equal(ran.code, 0)
  } finally {
    await simulator.close()
  }
})
