import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { seenIn } from '../../src/drivers/ssh/ask.ts'
import type { Command } from '../../src/drivers/ssh/command.ts'
import { rulesOf } from '../../src/drivers/ssh/items/registry.ts'
import { probeInput, readProbe } from '../../src/drivers/ssh/probe.ts'
import { PROBE } from '../../src/drivers/ssh/probe-program.ts'
import type { HostItem } from '../../src/model/host-item.ts'
import type { Lab, LabHost } from './lab.ts'

/** The host takes a change back after this time instead of 90 s, to keep the test short. */
const SECONDS = 8

/** What croft would do on the host for this item, with less patience. */
export async function commandsFor(one: Lab, host: LabHost, item: HostItem): Promise<readonly Command[]> {
  const shell = one.shells.open(host.target())
  const rules = rulesOf(item)
  const { text, keys } = probeInput(rules.asks(item))
  const probed = readProbe((await shell.run(['sh', '-c', PROBE], { input: text })).stdout, keys)
  await shell.close()
  assert.ok(probed)
  const seen = seenIn(probed.answers)
  const commands = rules.commands(item, seen, rules.diff(item, seen))
  assert.ok(commands.some((command) => command.do === 'arm' && command.seconds === 90))
  return commands.map((command) => (command.do === 'arm' ? { ...command, seconds: SECONDS } : command))
}

/** Makes the change in a separate process, and kills that once the change is active and unconfirmed. */
export async function killedInBetween(
  one: Lab,
  host: LabHost,
  commands: readonly Command[],
  isInForce: () => boolean = () => false,
): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'killed-in-between.ts')], {
    env: { ...one.env, LAB_ORDER: JSON.stringify({ target: host.target(), commands }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('proving\n')) resolve()
    })
    const look = setInterval(() => {
      if (!isInForce()) return
      clearInterval(look)
      resolve()
    }, 300)
    child.once('exit', () => {
      clearInterval(look)
      reject(new Error(`it ended by itself: ${said}`))
    })
  })
  child.kill('SIGKILL')
}

export async function letsUsIn(one: Lab, host: LabHost, name: string): Promise<boolean> {
  const shell = one.shells.open(host.target({ name }))
  try {
    return (await shell.run(['echo', 'in'], { timeoutMs: 20_000 })).stdout === 'in\n'
  } catch {
    return false
  } finally {
    await shell.close()
  }
}

/** Does anybody take a connection there? */
export function answers(one: Lab, { address }: LabHost): boolean {
  return one.inside(['timeout', '1', 'bash', '-c', 'exec 3<>"/dev/tcp/$0/22"', address]).code === 0
}

export async function untilIn(one: Lab, host: LabHost): Promise<void> {
  for (let attempt = 0; attempt < 240; attempt++) {
    // A connection that starts too early waits longer before each retry.
    const there = answers(one, host)
    if (there && (await letsUsIn(one, host, `again ${attempt}`))) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  assert.fail(`${host.name} never let us in again`)
}
