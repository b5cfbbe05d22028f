import { HOUSE } from '../house.ts'
import { blocksOf } from '../printed.ts'
import type { Walk } from '../reader.ts'

const SITE = blocksOf('docs/simulator.md').find(({ language }) => language === 'yaml')?.text ?? ''

export const README: Walk = {
  name: 'README',
  pages: ['README.md'],
  steps: {
    'npm start': { left: 'the tour takes minutes: test/binary/tour.test.ts plays it and types what it prints' },
    'npm test': { left: 'it is what runs this' },
    'croft sim --port 0 --speed 20 --write infra/': { until: 'endpoint', stays: true },
    'croft doctor infra/': { says: /✔ the certificate is the pinned one/ },
    'croft apply infra/': { answer: 'yes', says: /Apply complete!/ },
    'croft get infra/': { says: /^Machine\/web-1 +True +True/m },
  },
}

/** Four simulators at once: that of the house, and the three of the page. */
export const SIMULATOR: Walk = {
  name: 'the simulator',
  pages: ['docs/simulator.md'],
  ground: `${HOUSE}unset HTTPS_PROXY NO_PROXY`,
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
  },
}
