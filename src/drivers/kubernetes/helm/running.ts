import type { HelmWrite, Outcome } from '../../../model/step.ts'
import { type DriverDeps, type KubernetesWay, ObservationFailed } from '../../port.ts'
import type { HelmReleases } from '../../release-port.ts'

/** Starts one run of Helm against this cluster. Its result is read later. */
export async function runHelm(
  write: HelmWrite,
  { releases, way, cluster }: { releases?: HelmReleases | undefined; way?: KubernetesWay | undefined; cluster: string },
  { resolveSecret }: Pick<DriverDeps, 'resolveSecret'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const login = await way?.others?.login(signal)
  if (login === undefined || releases === undefined)
    return stalled('NoHelm', `Helm cannot be run for ${cluster} from here`)
  if ('problem' in login) return { result: 'not-sent', message: login.problem }
  const valuesFrom = write.run === 'upgrade' ? write.valuesFrom : undefined
  const secretValues = valuesFrom === undefined ? undefined : await hadSecret(() => resolveSecret(valuesFrom))
  const taskId = await releases.begin({
    cluster,
    write,
    login,
    ...(secretValues === undefined ? {} : { secretValues }),
  })
  if (taskId !== undefined) return { result: 'started', taskId }
  return stalled(
    'NoHelm',
    `could not run helm ${write.run} for ${write.release}: there is no program helm here. Install Helm, or name its program in CROFT_HELM`,
  )
}

function stalled(reason: string, message: string): Outcome {
  return { result: 'refused', refusal: { reason, meaning: 'stalled', message } }
}

async function hadSecret<T>(resolve: () => Promise<T>): Promise<T> {
  try {
    return await resolve()
  } catch {
    const message = 'the secret values of the chart are not to be had'
    throw new ObservationFailed({ reason: 'NoSecret', meaning: 'backoff', message })
  }
}
