import { renderTable } from '../render/table.ts'
import type { Scene } from './scene.ts'

export const datacentre: Scene = {
  title: 'A datacentre: three Proxmox hosts (simulated, nothing real is touched)',
  async play(stage) {
    const { simulator, style } = stage
    const guests = simulator.guests()
    stage.say(`The Proxmox API answers at ${style.paint('bold', simulator.endpoint)}`)
    stage.say(
      `with the certificate ${simulator.fingerprint.slice(0, 23)}…; simulated time runs ${stage.speed} times as fast.\n`,
    )
    const rows = simulator.hosts().map((host) => {
      const here = guests.filter((guest) => guest.host === host)
      const names = here.map((guest) => `${guest.vmid} ${guest.name} (${guest.running ? 'running' : 'stopped'})`)
      return [host, names.length === 0 ? 'none' : names.join(', ')]
    })
    stage.runtime.out.write(renderTable([{ title: 'HOST' }, { title: 'MACHINES' }], rows, style))
  },
}
