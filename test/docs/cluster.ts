import { join } from 'node:path'
import type { ServedNode } from '../../sim/testing/served-api.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Group, version, plural, kind and scope of a kind that is installed in a cluster. */
export type Kind = readonly [string, string, string, string, 'Cluster' | 'Namespaced']

/** A simulated cluster with one server and these kinds, as the one that the reader's kubectl talks to; in shell. */
export function servedCluster(name: string, node: ServedNode, kinds: readonly Kind[] = []): string {
  const definitions = kinds.map(([group, version, plural, kind, scope]) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }))
  const installed = `kubectl apply -f - <<'END'
${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: definitions })}
END
kubectl wait --for=condition=Established crd --all`
  return `mkdir ${name}.kube
node ${ROOT}/bin/run ${ROOT}/test/docs/cluster-server.ts ${name}.kube '${JSON.stringify(node)}' > ${name}.log 2>&1 &
tries 1200 test -e ${name}.kube/config
export KUBECONFIG=$PWD/${name}.kube/config HTTPS_PROXY=$(cat ${name}.kube/proxy)
export https_proxy=$HTTPS_PROXY
${kinds.length === 0 ? '' : installed}`
}
