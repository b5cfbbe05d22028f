import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { oneServer } from '../cluster-ground.ts'
import { type Ended, endAll, estateAt, scratch, start, startSimulator } from './children.ts'

/* Power as a person has it at night: real commands, no controller, a simulated cluster behind them. */

after(endAll)

/** The commands live in real time: whenever the test runs, the schedule must not be near. */
const hourFromNow = (hours: number) => (new Date().getUTCHours() + hours) % 24
const ESTATE = `${oneServer({ agent: true })}---
apiVersion: croft.dev/v1alpha1
kind: Power
metadata: {name: homelab}
spec:
  cluster: homelab
  schedule: {timeZone: UTC, off: ["0 ${hourFromNow(8)} * * *"], on: ["0 ${hourFromNow(9)} * * *"]}
  state: on
---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: shop}
spec:
  cluster: homelab
  namespace: shop
  objects:
    - {apiVersion: apps/v1, kind: Deployment, metadata: {name: shop}, spec: {replicas: 2, selector: {matchLabels: {app: shop}}, template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: shop, image: "x:1"}]}}}}
`

function said({ code, stdout, stderr }: Ended): string {
  return `exit ${code}\n${stdout}\n${stderr}`
}

test('[A41] [A43] croft power shows its plan, asks, switches off and on, and says what it does', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'hosts', '--speed', '30', '--proxy'], cwd)
  estateAt(path.join(cwd, 'estate'), simulator, { 'estate.yaml': ESTATE })
  const { proxy } = simulator as unknown as { readonly proxy: string }
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token, HTTPS_PROXY: proxy, USER: 'ana' }
  const croft = async (...args: readonly string[]) => {
    const ended = await start(args, { cwd, env }).ended
    if (process.env.SHOW !== undefined) process.stderr.write(`$ croft ${args.join(' ')}\n${said(ended)}\n`)
    return ended
  }
  const dir = ['--dir', 'estate']
  const made = await croft('apply', 'estate', '--yes')
  assert.equal(made.code, 0, said(made))

  const hold = await croft('power', 'hold', '--for', '2h', '--why', 'demo', ...dir)
  assert.match(hold.stdout, /Power\/homelab: held for 120 minutes; croft power release homelab ends it/)
  const asked = await croft('power', 'off', ...dir)
  assert.equal(asked.code, 1, said(asked))
  assert.match(asked.stdout, /^apps +todo +0 of 1 +no pod of an application is left$/m, said(asked))
  assert.match(asked.stdout, /^Held: ana holds it since .*: demo\. To go on: croft power release/m)
  assert.match(asked.stderr, /Say --yes/)
  const held = await croft('power', 'off', '--yes', ...dir)
  assert.equal(held.code, 1, said(held))
  assert.match(held.stdout, /Power\/homelab is Held$/m)
  await croft('power', 'release', ...dir)

  const off = await croft('power', 'off', '--yes', '--why', 'holidays', ...dir)
  assert.equal(off.code, 0, said(off))
  for (const line of [/take Deployment shop\/shop from 2 to 0/, /cordon a1 and taint it/, /stop K3s on s1/, /is Off$/m])
    assert.match(off.stdout, line)
  const status = await croft('power', 'status', ...dir)
  assert.match(status.stdout, /^Power\/homelab is Off; wanted off \(asked by ana: holidays\)$/m, said(status))
  const pods = await croft('pods', ...dir)
  assert.equal(pods.code, 1)
  assert.match(
    pods.stderr,
    /homelab has no pods: Power\/homelab is off on request\. croft power on --dir estate homelab brings it back\./,
    said(pods),
  )

  const on = await croft('power', 'on', '--yes', ...dir)
  assert.equal(on.code, 0, said(on))
  assert.match(on.stdout, /take Deployment shop\/shop back to 2/)
  const back = await croft('pods', ...dir)
  assert.equal(back.stdout.match(/^shop +shop-/gm)?.length, 2, said(back))
})
