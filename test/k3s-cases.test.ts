import { before, describe, test } from 'node:test'
import { serviceOf, stopService } from '../sim/k3s/service.ts'
import { metalShell } from '../sim/metal/shell.ts'
import { createLab, type Lab, RECORDED_VERSION } from '../sim/testing/k3s-lab.ts'
import { type Host, K3S_CASES, type K3sComputers } from './k3s-cases.ts'

/** The simulated K3s, asked what the real one is asked in `npm run test:k3s -- --only answers`. */
describe('the simulated K3s answers as the real one', () => {
  let computers: K3sComputers
  before(() => {
    computers = simulated(createLab())
  })
  for (const one of K3S_CASES) test(one.name, () => one.run(computers))
})

function simulated(lab: Lab): K3sComputers {
  const boxes: Readonly<Record<Host, string>> = { first: 's1', second: 's2' }
  const startedMs = new Map<Host, number>()
  const box = (host: Host) => lab.box(boxes[host])
  return {
    version: RECORDED_VERSION,
    address: (host) => box(host).addresses[0] ?? '',
    async run(host, argv) {
      const { code, stdout, stderr } = await lab.clock.runUntil(metalShell(lab.world, boxes[host]).run(argv))
      return { code, out: `${stdout}${stderr}` }
    },
    async write(host, path, text) {
      box(host).machine.files.write(path, text)
    },
    read: async (host, path) => box(host).machine.files.text(path),
    async start(host, role, config) {
      startedMs.set(host, lab.clock.now())
      lab.start(boxes[host], role, { 'node-name': host, ...config })
    },
    async stop(host) {
      stopService(box(host).computer)
      await lab.until(() => serviceOf(box(host).computer).process === undefined)
    },
    async log(host) {
      const { journal } = serviceOf(box(host).computer)
      const since = startedMs.get(host) ?? 0
      return journal.flatMap(({ atMs, message }) => (atMs >= since ? [message] : [])).join('\n')
    },
    async clear(host) {
      const { files, enabled } = box(host).machine
      for (const path of ['/var/lib/rancher', '/etc/rancher', '/etc/systemd/system/k3s.service']) files.remove(path)
      files.remove('/etc/systemd/system/k3s-agent.service')
      enabled.clear()
    },
    wait: (ms) => lab.pass(ms),
  }
}
