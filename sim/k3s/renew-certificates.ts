import type { NodeAnswer } from '../../src/k3s/node-program.ts'
import { beginJob } from '../guest/job.ts'
import { between } from '../world/chance.ts'
import type { Computer } from '../world/types.ts'
import { CLIENT_KUBELET, DATA, unitRole } from './disk.ts'
import { startService, stopService } from './service.ts'

/**
 * The job around `k3s certificate rotate`: K3s stops, its leaves are deleted, and its start makes new ones. An agent
 * then has no certificate left, and authenticates with its token again.
 */
export function renewCertificates(computer: Computer): NodeAnswer {
  const { world, machine } = computer
  return beginJob(computer, 'renew-certificates', between(world.random, [2_000, 6_000]), (done) => {
    if (unitRole(machine.files) === undefined) {
      done('K3s has no unit here')
      return
    }
    stopService(computer, () => {
      machine.files.remove(CLIENT_KUBELET)
      machine.files.remove(`${DATA}/server/tls/serving-kube-apiserver.crt`)
      startService(computer)
      done()
    })
  })
}
