import type { Page } from '../../src/server/api/schemas.ts'
import { Empty } from '../parts/bits.tsx'
import { ClusterCard } from '../parts/cluster-card.tsx'

export function ClustersView({ page }: { readonly page: Page }) {
  return (
    <>
      <header class="view-head">
        <h1>Clusters</h1>
      </header>
      {page.clusters.length === 0 ? (
        <Empty icon="cluster" title="No cluster is declared">
          A manifest of the kind Cluster makes one of your machines.
        </Empty>
      ) : (
        <div class="grid-cards">
          {page.clusters.map((cluster) => (
            <ClusterCard key={cluster.key} cluster={cluster} page={page} />
          ))}
        </div>
      )}
    </>
  )
}
