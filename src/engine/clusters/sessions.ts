import type { ClusterDeps, ClusterDriver, ClusterSession } from '../../drivers/cluster-port.ts'
import type { Shell } from '../../lib/shell.ts'
import type { ClusterDeclaration } from '../../model/cluster-declaration.ts'
import type { SshTarget } from '../../model/ssh-target.ts'

/** Clusters and the boxes under them that are spoken to; each is opened once and kept while its declaration stays. */
export interface ClusterSessions {
  of(cluster: ClusterDeclaration): ClusterSession
  shellTo(cluster: ClusterDeclaration, host: string): Shell | undefined
  close(): Promise<void>
}

export interface ClusterTools {
  readonly driver: ClusterDriver
  readonly deps: ClusterDeps
  openShell?(target: SshTarget): Shell
}

export function createClusterSessions(tools: ClusterTools | undefined): ClusterSessions {
  const sessions = new Map<string, { readonly declared: string; readonly session: ClusterSession }>()
  const shells = new Map<string, { readonly declared: string; readonly shell: Shell }>()
  return {
    of(cluster) {
      if (tools === undefined) throw new Error('a cluster is declared, and nothing here can speak to clusters')
      const declared = JSON.stringify({ ...cluster, hosts: [...cluster.hosts] })
      const before = sessions.get(cluster.key)
      if (before?.declared === declared) return before.session
      void before?.session.close()
      const session = tools.driver.connect(cluster, tools.deps)
      sessions.set(cluster.key, { declared, session })
      return session
    },
    shellTo(cluster, host) {
      const target = cluster.hosts.get(host)
      if (target === undefined || tools?.openShell === undefined) return undefined
      const declared = JSON.stringify(target)
      const before = shells.get(host)
      if (before?.declared === declared) return before.shell
      void before?.shell.close()
      const shell = tools.openShell(target)
      shells.set(host, { declared, shell })
      return shell
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ session }) => session.close()))
      await Promise.all([...shells.values()].map(({ shell }) => shell.close()))
      sessions.clear()
      shells.clear()
    },
  }
}
