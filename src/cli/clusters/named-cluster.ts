import { defined } from '../../lib/defined.ts'
import type { Runtime } from '../runtime.ts'
import { CliError } from '../verb.ts'

/** The API of the cluster that a kubeconfig and a context of it name, or of the one that we are a pod of. */
export async function openNamedCluster(runtime: Runtime, kubeconfig: string | undefined, context: string | undefined) {
  const access = await runtime.openCluster?.({
    ...defined({ kubeconfig, context }),
  })
  if (access === undefined) throw new CliError('This croft knows no clusters.')
  if ('problem' in access) throw new CliError(`The cluster cannot be reached: ${access.problem}.`)
  return access
}

export function textOption(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
