import type { ClusterDeps, ClusterDriver, ClusterOperator, ClusterSession } from '../../drivers/cluster-port.ts'
import type { Shell } from '../../lib/shell.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { SshTarget } from '../../model/secret.ts'

/** Open connections to clusters and their boxes; each is cached while its declaration is unchanged. */
export interface ClusterSessions {
  of(cluster: ClusterDeclaration): Promise<ClusterSession>
  /** Returns the operator of a whole cluster: here for drills. */
  operatorOf(cluster: ClusterDeclaration): Promise<ClusterOperator>
  /** Returns the shells of boxes that croft did not create, by name; `more`: further declared boxes. */
  shellsOf(cluster: ClusterDeclaration, more: readonly string[]): Promise<ReadonlyMap<string, Shell>>
  /** Ends the cluster. A new declaration of it forms a new cluster with the same CA and tokens. */
  end(key: ResourceKey): Promise<void>
  close(): Promise<void>
}

export interface ClusterTools {
  readonly driver: ClusterDriver
  readonly deps: ClusterDeps
  openShell?(target: SshTarget): Shell
}

/** `load` is called for the first cluster, so that an estate without one pays nothing. */
export function createClusterSessions(load: (() => Promise<ClusterTools>) | undefined): ClusterSessions {
  const sessions = new Map<string, { readonly declared: string; readonly session: ClusterSession }>()
  const shells = new Map<string, { readonly declared: string; readonly shell: Shell }>()
  const operators = new Map<string, { readonly cluster: ClusterDeclaration; readonly operator: ClusterOperator }>()
  let loaded: Promise<ClusterTools> | undefined
  const toolsOf = (): Promise<ClusterTools> => {
    if (load === undefined) throw new Error('a cluster is declared, and nothing here can speak to clusters')
    loaded ??= load()
    return loaded
  }
  return {
    async of(cluster) {
      const tools = await toolsOf()
      const declared = JSON.stringify({ ...cluster, hosts: [...cluster.hosts], otherHosts: undefined })
      const before = sessions.get(cluster.key)
      if (before?.declared === declared) return before.session
      await before?.session.close()
      const session = tools.driver.connect(cluster, tools.deps)
      sessions.set(cluster.key, { declared, session })
      return session
    },
    async operatorOf(cluster) {
      const tools = await toolsOf()
      const before = operators.get(cluster.key)
      if (before?.cluster === cluster) return before.operator
      const operator = tools.driver.operate(cluster, tools.deps)
      operators.set(cluster.key, { cluster, operator })
      return operator
    },
    async shellsOf(cluster, more) {
      const wanted = [...cluster.hosts, ...[...(cluster.otherHosts ?? [])].filter(([name]) => more.includes(name))]
      if (wanted.length === 0) return new Map()
      const tools = await toolsOf()
      const found = new Map<string, Shell>()
      for (const [name, target] of wanted) {
        const declared = JSON.stringify(target)
        const before = shells.get(name)
        if (before?.declared === declared) found.set(name, before.shell)
        else if (tools.openShell !== undefined) {
          await before?.shell.close()
          const shell = tools.openShell(target)
          shells.set(name, { declared, shell })
          found.set(name, shell)
        }
      }
      return found
    },
    async end(key) {
      const { vault } = (await toolsOf()).deps
      const secrets = await vault.read(key.slice(key.lastIndexOf('/') + 1))
      if (secrets?.formed === true) await vault.write({ ...secrets, formed: false })
      await sessions.get(key)?.session.close()
      sessions.delete(key)
      operators.delete(key)
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ session }) => session.close()))
      await Promise.all([...shells.values()].map(({ shell }) => shell.close()))
      sessions.clear()
      shells.clear()
    },
  }
}
