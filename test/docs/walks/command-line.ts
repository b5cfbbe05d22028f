import { HOUSE } from '../house.ts'
import { blocksOf } from '../printed.ts'
import type { Walk } from '../reader.ts'
import { file, STATE } from './imports.ts'

const SPARE =
  'a real K3s on a computer that may be wiped: test/k3s/chapters/restores.ts and test/k3s/chapters/care.ts type both to real hosts'

/** Hosts with a real sshd. */
const HOSTS = { typedOn: 'docs/cli.md#host' }
const OPERATOR = { typedOn: 'docs/operator.md' }

/** The graph of docs/own-api.md. */
const GRAPH = blocksOf('docs/own-api.md').find(({ language }) => language === 'yaml')?.text ?? ''

/** The controller knows that the memory of web-1 has drifted to this. */
const SEEN = (memory: number) =>
  `curl --silent --noproxy "*" http://127.0.0.1:8087/api/view | jq --exit-status ".drifts[] | select(.observed == \\"${memory}\\")" > /dev/null`
const CHANGED = (memory: number) => `curl --silent --show-error --fail --insecure --noproxy '*' --request PATCH \\
  --data '{"memory":"${memory}"}' "$endpoint/sim/guests/104" > /dev/null
tries 1200 sh -c '${SEEN(memory)}'`

/** A revert is done with the next pass, and nothing is left of the drift. */
const REVERTED = `tries 1200 sh -c 'curl --silent --noproxy "*" http://127.0.0.1:8087/api/view | jq --exit-status ".drifts == []" > /dev/null'`

/** A controller, a user who is signed in on its page, and two VMs whose removal is held because it is of two. */
const CONTROLLER = `sed -i 's/^metadata: {name: web-1/metadata: {annotations: {croft.dev\\/drift: report}, name: web-1/' infra/vm.yaml
for name in old-two old-three; do cat > infra/$name.yaml <<EOF
apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: $name}
spec:
  forProvider: {nodeName: still-fawn, cpu: {cores: 1}, memory: {dedicated: 512}, started: false}
EOF
done
croft apply infra/ --yes --timeout 5h
rm infra/old-two.yaml infra/old-three.yaml
croft user set anna --role operator > password
lasting controller 'http://127.0.0.1:8087' 'croft run infra/'
controller=$last
curl --silent --show-error --fail --noproxy '*' --header 'content-type: application/json' --header 'origin: http://127.0.0.1:8087' \\
  --data "{\\"name\\": \\"anna\\", \\"password\\": \\"$(tail -n 1 password)\\"}" http://127.0.0.1:8087/api/sign-in`

export const COMMAND_LINE: Walk = {
  name: 'the command line',
  pages: ['docs/cli.md'],
  ground: HOUSE,
  steps: {
    'croft apply infra/': { answer: 'yes', says: /Apply complete/ },
    'croft apply plan.json': { before: 'croft plan infra/ --out plan.json > /dev/null' },
    'croft selftest homelab --drill spare-box': { left: SPARE },
    'croft get -w': { until: 'Machine/web-1' },
    'croft events vm/k3s-vm-fun-bedbug -w': { until: 'Done' },
    'export CROFT_TOKEN=$(croft token create me --scopes read,operate,approve,admin)': { before: CONTROLLER },
    'croft ask revert machine/web-1': { before: CHANGED(4000) },
    'croft ask adopt machine/web-1 --field memory.dedicatedMb': {
      before: `${REVERTED}\n${CHANGED(4200)}`,
      says: /the patch is at/,
    },
    'croft delete vm/old-one': {
      before: `kill -TERM -- -$controller; wait $controller
sed -i 's/annotations: {croft.dev.drift: report}, //' infra/vm.yaml
croft apply infra/ --yes --timeout 5h > /dev/null`,
      answer: 'old-one',
    },
    'croft import crossplane cluster-export.yaml': {
      before: 'cp examples/homelab/machines/k3s-vm-still-fawn.yaml cluster-export.yaml',
    },
    'croft import terraform state.json': { before: file('state.json', STATE) },
    'croft host enroll cow --address 192.168.14.2 --user k3s': HOSTS,
    'croft host diff cow --dir infra/': HOSTS,
    'croft host run cow --dir infra/ -- journalctl -u k3s -n 50': HOSTS,
    'croft host copy cow ./motd /etc/motd --dir infra/': HOSTS,
    'croft host upload-iso pve1 ./debian.iso --storage local --dir infra/': HOSTS,
    'croft host wake duck --dir infra/': HOSTS,
    'croft machine write web-1 ./motd /etc/motd --mode 0644 --dir infra/': { before: 'echo welcome > motd' },
    'croft machine snapshot web-1 before-upgrade --dir infra/': { answer: 'yes' },
    'croft move web-1 still-fawn --dir infra/': { answer: 'yes' },
    'croft machine stop web-1 --dir infra/': { answer: 'yes' },
    'croft cluster backup homelab --now': { answer: 'yes' },
    'croft cluster backup homelab --drill spare-box': { left: SPARE },
    'croft cluster replace homelab k3s-2': { answer: 'yes' },
    'croft cluster rotate homelab token': { answer: 'y' },
    'croft power off homelab --why holidays --for 8h': { answer: 'yes' },
    'croft power on homelab': { answer: 'yes' },
    'croft pods -w': { until: 'kube-system' },
    'croft explain K3sNode': { before: `cat > infra/k3snode.yaml <<'EOF'\n${GRAPH}EOF` },
    'croft sim --hosts 3 --port 8006 --speed 20': { until: 'endpoint' },
    'croft demo': { typedIn: { test: 'test/binary/tour.test.ts', as: "start(['demo']" } },
    'croft demo --once': { typedIn: { test: 'test/install/npm.test.ts', as: "call('demo', '--once')" } },
    'croft run infra/': { until: 'http://127' },
    'croft run https://git.example/me/home.git': { typedOn: 'docs/run.md' },
    'croft run --config /etc/croft/croft.yaml --wait': {
      before: 'mkdir -p /etc/croft; printf "sources: [{name: a, directory: %s}]" "$PWD/infra" > /etc/croft/croft.yaml',
      until: 'http://127',
    },
    'croft operator --kubeconfig ~/.kube/config --namespace croft-system': OPERATOR,
    'croft move-in infra/ --kubeconfig ~/.kube/homelab --namespace croft-system': OPERATOR,
    'croft move-out infra/ --kubeconfig ~/.kube/homelab --namespace croft-system': OPERATOR,
    'croft user set otto --role viewer --password-file pw.txt': { before: 'echo long-enough-for-this > pw.txt' },
    'croft version --verify croft-0.1.0.tgz --signers signers': { typedOn: 'SECURITY.md' },
    'croft completion fish | source': { shell: 'fish' },
  },
}
