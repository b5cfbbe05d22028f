import { join } from 'node:path'
import { HELM } from '../../helm-here.ts'
import { HOUSE } from '../house.ts'
import { blocksOf } from '../printed.ts'
import type { Walk } from '../reader.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** The chart as `npm run image` packs it. */
const CHART = `mkdir release
tar -czf release/croft-0.1.0.tgz -C ${ROOT}/deploy --transform s,^chart,croft, chart
ln -s ${HELM} ~/bin/helm`

const [GRAPH = '', INSTANCE = ''] = blocksOf('docs/own-api.md').flatMap(({ language, text }) =>
  language === 'yaml' ? [text] : [],
)

/** What kro installs beside its controller, as far as its kind is concerned. */
const KRO = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: resourcegraphdefinitions.kro.run}
spec:
  group: kro.run
  scope: Cluster
  names: {plural: resourcegraphdefinitions, singular: resourcegraphdefinition, kind: ResourceGraphDefinition}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const CLASS = `apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: node}
spec: {cpu: {cores: 2}, memory: 2Gi, disks: [{size: 20Gi, image: noble, storage: fast}]}
`

/**
 * The cluster of the house as the place of an operator. Objects of Crossplane's provider are left out, since its
 * kinds are not installed.
 */
const GROUND = `${HOUSE}rm -r infra/machines
cat > infra/class.yaml <<'END'\n${CLASS}END
mkdir ~/.kube
croft cluster kubeconfig homelab --dir infra/ > ~/.kube/config
cp ~/.kube/config ~/.kube/homelab`

export const OPERATOR: Walk = {
  name: 'an operator in the cluster of the house',
  pages: ['docs/operator.md', 'docs/own-api.md'],
  ground: GROUND,
  steps: {
    'croft operator --kubeconfig ~/.kube/config --namespace croft-system': {
      until: 'works on rest',
    },
    'kubectl get croft -n croft-system': { says: /No resources found in croft-system namespace/ },
    'npm run image -- --out release': {
      typedIn: { test: 'test/install/system.test.ts', as: "['bin/run', 'scripts/image.ts', '--out', 'release']" },
    },
    'docker load -i release/croft-0.1.0-linux-x64.oci.tar': {
      left: 'the daemon of Docker: test/install/system.test.ts unpacks the image and starts what is in it',
    },
    'helm install croft release/croft-0.1.0.tgz --namespace croft-system --create-namespace':
      HELM === undefined
        ? { left: 'there is no helm here: test/deploy.test.ts looks at the chart without it' }
        : { before: CHART, says: /^STATUS: deployed$/m },
    'croft move-in infra/ --kubeconfig ~/.kube/homelab --namespace croft-system': {
      exit: [1, 0],
      says: /has no Estate; apply the one of this directory there[\s\S]*keeps this estate now/,
    },
    'croft move-out infra/ --kubeconfig ~/.kube/homelab --namespace croft-system': { says: /keeps this estate again/ },
    'croft operator --own-apis --kubeconfig ~/.kube/config --namespace croft-system': {
      before: `croft move-in infra/ --kubeconfig ~/.kube/homelab --namespace croft-system > /dev/null
cat > kro.yaml <<'END'\n${KRO}END
cat > k3snode.yaml <<'END'\n${GRAPH}END
cat > agent-1.yaml <<'END'\n${INSTANCE}END
kubectl apply -f kro.yaml
kubectl apply -n croft-system -R -f infra/ > /dev/null`,
      until: 'works on rest',
      stays: true,
    },
    'kubectl get k3snodes,machines -n croft-system': {
      says: /^k3snode\.kro\.run\/agent-1 [\s\S]*^machine\.croft\.dev\/agent-1 +True +True/m,
    },
  },
}
