import { clusterTools } from '../cli/clusters/opened.ts'
import type { Runtime } from '../cli/runtime.ts'
import { endpointUrl } from '../k3s/config.ts'
import { renderKubeconfig } from '../kubernetes/kubeconfig.ts'
import type { Estate } from '../model/estate.ts'

/** What `croft cluster kubeconfig` prints, for whoever asks the page. Nothing of it is kept. */
export async function kubeconfigFor(
  runtime: Runtime,
  place: Parameters<typeof clusterTools>[1],
  estate: Estate | undefined,
  name: string,
  lifeMs: number,
): Promise<{ readonly yaml: string; readonly untilMs: number } | undefined> {
  const cluster = estate?.clusters?.find((one) => one.name === name)
  if (cluster === undefined) return undefined
  const { driver, deps } = await clusterTools(runtime, place)
  const credentials = await driver.operate(cluster, deps).credentials(lifeMs)
  if (credentials === undefined) return undefined
  const yaml = renderKubeconfig({ name, endpoint: endpointUrl(cluster.spec), ...credentials })
  return { yaml, untilMs: credentials.untilMs }
}
