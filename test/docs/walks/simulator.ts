import { BURNT, HOUSE_WITH_BACKUPS } from '../house.ts'
import { blocksOf } from '../printed.ts'
import type { Walk } from '../reader.ts'

const SITE = blocksOf('docs/simulator.md').find(({ language }) => language === 'yaml')?.text ?? ''

export const README: Walk = {
  name: 'README',
  pages: ['README.md'],
  steps: {
    // With --once: without it the tour runs until it is ended.
    'npm start': { typedIn: { test: 'test/binary/clean.test.ts', as: "'npm', ['start', '--silent', '--', '--once']" } },
    'npm test': { typedIn: { test: '.ci/run', as: 'npm test' } },
    'croft sim --port 0 --speed 20 --write infra/': { until: 'endpoint', stays: true },
    'croft doctor infra/': { says: /✔ the certificate is the pinned one/ },
    'croft apply infra/': { answer: 'yes', says: /Apply complete!/ },
    'croft get infra/': { says: /^Machine\/web-1 +True +True/m },
  },
}

/** Four simulators at once: that of the house, and the three of the page. At the end the house starts again from nothing. */
export const SIMULATOR: Walk = {
  name: 'the simulator',
  pages: ['docs/simulator.md', 'docs/k3s.md'],
  ground: `${HOUSE_WITH_BACKUPS}unset HTTPS_PROXY NO_PROXY https_proxy no_proxy`,
  steps: {
    'croft sim --preset homelab --port 8006 --speed 20': { until: 'endpoint', stays: true },
    'croft sim --like examples/machines --port 0 --write rehearsal --speed 20': { until: 'endpoint', stays: true },
    '. rehearsal/sim.env && croft plan rehearsal': { exit: 2, says: /\+ (?:… )?Machine\/web-1/ },
    'croft sim --like site.yaml --port 0 --write site': {
      before: `cat > site.yaml <<'END'\n${SITE}END`,
      until: 'endpoint',
    },
    'kubectl --kubeconfig homelab.yaml get nodes -o wide': { says: /^k3s-1 +Ready/m },
    [`curl -k --noproxy '*' -X PATCH https://127.0.0.1:8006/sim/guests/109 -d '{"lock":"clone"}'`]: {
      says: /clone|\{/,
    },
    'git clone https://git.example/me/home.git infra': { before: BURNT },
    'croft apply infra/': {
      answer: 'yes',
      exit: [3, 0],
      says: /held: Cluster\/homelab: etcd has lost its majority[\s\S]*Apply complete!/,
    },
    'croft cluster snapshots homelab --dir infra/': { says: /^croft-\d+-\S+ +nas\.home\.arpa:\/srv\/etcd /m },
    'croft cluster restore homelab "$SNAPSHOT" --dir infra/': {
      before: 'export SNAPSHOT',
      answer: 'yes',
      says: /Done: restore of homelab/,
    },
  },
  end: 'expected kubectl --kubeconfig homelab.yaml get configmap precious',
}
