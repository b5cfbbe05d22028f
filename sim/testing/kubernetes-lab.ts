import type { Wire } from '../../src/lib/wire.ts'
import { kubernetesWire } from '../kubernetes/wire.ts'
import { adminOf, createLab, FIRST, type Lab } from './k3s-lab.ts'

/** A simulated cluster of one server, and the administrator's way to its API. */
export interface KubernetesLab {
  readonly lab: Lab
  wire(): Wire
  /** Calls made through every wire: `GET /api/v1/…`. */
  readonly calls: string[]
}

export async function oneApi(seed = 1): Promise<KubernetesLab> {
  const lab = createLab(seed)
  lab.start('s1', 'server', FIRST)
  await lab.until(() => lab.isReady('s1'))
  const files = lab.cluster().bootstrap.files
  const target = {
    endpoint: 'https://10.67.0.1:6443',
    caPem: files.get('server-ca.crt') ?? '',
    ...adminOf(files, lab.clock.now()),
  }
  const calls: string[] = []
  return {
    lab,
    calls,
    wire() {
      const wire = kubernetesWire(lab.world, target)
      return {
        send: (request, signal) => {
          calls.push(`${request.method} ${request.path}`)
          return wire.send(request, signal)
        },
        stream: (request, onText, signal) => {
          calls.push(`${request.method} ${request.path}`)
          if (wire.stream === undefined) throw new Error('the simulated wire streams')
          return wire.stream(request, onText, signal)
        },
        close: () => wire.close(),
      }
    },
  }
}
