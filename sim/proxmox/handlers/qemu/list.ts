import { seesGuest } from '../../../world/access.ts'
import { flag, guestOf, hostOf, type Routes } from '../../call.ts'
import { nics, nodeRow, statusRow } from '../guest/guest-rows.ts'

export const qemuListRoutes: Routes = {
  'GET /nodes/{node}/qemu': (call) => {
    const host = hostOf(call)
    const rows: unknown[] = []
    for (const guest of call.world.guests.values()) {
      if (guest.node !== host.name || guest.type !== 'qemu' || !seesGuest(call.world, call.who, guest.vmid)) continue
      const row = nodeRow(call.world, host, guest)
      rows.push(
        flag(call, 'full')
          ? { ...row, qmpstatus: guest.run.paused ? 'paused' : guest.run.status, ...nics(guest) }
          : row,
      )
    }
    return rows
  },
  'GET /nodes/{node}/qemu/{vmid}/status/current': (call) => statusRow(call.world, hostOf(call), guestOf(call)),
  'GET /nodes/{node}/qemu/{vmid}/status': (call) => {
    guestOf(call)
    return ['current', 'start', 'stop', 'reset', 'shutdown', 'suspend', 'reboot'].map((subdir) => ({ subdir }))
  },
}
