import { FORGE, GITHUB, HOUSE, LIBVIRT_HOST, PVEUM } from '../house.ts'
import type { Walk } from '../reader.ts'

/** What doctor printed, typed on a host: the token that comes of it has every privilege that the house needs. */
const LEAST = `${PVEUM}
croft doctor infra/ --role > role.sh
bash -e role.sh > made.json
export LEAST="croft@pve!croft=$(jq --raw-output 'select(.value) | .value' made.json)"
expected sh -c 'PROXMOX_TOKEN=$LEAST croft doctor infra/ > least.txt'
expected grep --quiet 'every privilege that the declarations need is there' least.txt`

const NO_CONSOLES = `expected sh -c '! PROXMOX_TOKEN=$LEAST croft console web-1 infra/ < /dev/null'`
const CONSOLES = `expected sh -c 'PROXMOX_TOKEN=$LEAST croft console web-1 infra/ < /dev/null'`

/** A controller whose source waits for a person: the first commit is active, and the second waits. */
const MANUAL = `printf 'sources: [{name: home, directory: %s, apply: manual}]' "$PWD/infra" > /etc/croft/croft.yaml
lasting manual 'http://127.0.0.1:8087' 'croft run --config /etc/croft/croft.yaml'
manual=$last
sed -i 's/memory: 2Gi/memory: 2560Mi/' infra/vm.yaml
git -C infra commit --quiet --all --message 'Somewhat more memory'
waits() { curl --silent --fail http://127.0.0.1:8087/api/view | jq --exit-status '.sources[] | select(.waiting.plan)' > /dev/null; }
tries 1200 waits`

/** The pages of daily work with one house: consoles, checks, imports, people, the API and the controller. */
export const CONTROLLER: Walk = {
  name: 'a house and its controller',
  pages: [
    'docs/doctor.md',
    'docs/selftest.md',
    'docs/console.md',
    'docs/import.md',
    'docs/page.md',
    'docs/api.md',
    'docs/run.md',
    'docs/existing-clusters.md',
  ],
  ground: HOUSE,
  steps: {
    'croft doctor infra/': { says: /✔ the certificate is the pinned one/ },
    'croft doctor infra/ --role': { says: /^pveum user token add/m },
    'croft selftest homelab --dir infra/': {
      before: LEAST,
      says: /^ok +etcd .* 3 of 3 servers vote/m,
    },
    'pveum role modify croft-vms --privs VM.Console --append 1': { before: NO_CONSOLES },
    'croft import proxmox infra/': { before: CONSOLES, says: /k3s-vm-still-fawn/ },
    'croft import proxmox infra/ --guest 108,109': { says: /external-name: "108"/ },
    'croft import libvirt infra/': { before: LIBVIRT_HOST, says: /^11111111-2222-4333-8444-555555555555 +old-web/m },
    'croft import libvirt infra/ --guest 11111111-2222-4333-8444-555555555555': { says: /^ {2}name: old-web$/m },
    'croft export --dir infra/': { before: 'rm -r infra\nmv house infra' },
    'croft export vm/k3s-vm-still-fawn --dir infra/': { says: /external-name: "108"/ },
    [`curl -s http://127.0.0.1:8087/api/view | jq '.rows[] | select(.ready != "True") | .key'`]: {
      before: `croft apply infra/ --yes --timeout 5h
lasting controller 'http://127.0.0.1:8087' '. infra/sim.env && croft run infra/'
controller=$last
tries 1200 curl --silent --fail --output /dev/null http://127.0.0.1:8087/readyz`,
    },
    [`curl -s 'http://127.0.0.1:8087/api/resource?key=Machine/web-1' | jq .action`]: {
      says: /"do": "none"|null|nothing/,
    },
    [`curl -s 'http://127.0.0.1:8087/api/power-plan?target=homelab&state=off' | jq '.holds, .tiers'`]: {
      says: /"servers"/,
    },
    [`curl -s -X POST http://127.0.0.1:8087/api/wishes/reconcile \\\n  -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{}'`]:
      { says: /"message":/ },
    'croft token list': { says: /^ci +/m },
    'croft run infra/': { before: 'kill -TERM -- "-$controller"; wait "$controller"', until: 'http://127.0.0.1:8087' },
    'export SOPS_AGE_KEY_FILE=~/key.txt': { before: 'cp ~/.local/state/croft/*/vault/age-key.txt ~/key.txt' },
    'croft run https://git.example/me/home.git': {
      before: `printf 'sim.env\\n' > infra/.gitignore
git -C infra init --quiet --initial-branch main
git -C infra add .
git -C infra commit --quiet --message 'The house'
${FORGE}`,
      until: 'Revision',
      says: /Revision: main: The house/,
    },
    'croft run --config /etc/croft/croft.yaml': {
      before: `mkdir -p /etc/croft
printf 'sources: [{name: home, directory: %s}]' "$PWD/infra" > /etc/croft/croft.yaml`,
      until: 'http://127.0.0.1:8087',
    },
    'export CROFT_TOKEN=$(croft token create me --scopes read,operate,approve)': { before: MANUAL },
    'croft ask plan Source/home': { says: /~ Machine\/web-1[\s\S]*croft ask approve Source\/home@/ },
    [`croft ask approve "Source/home@$(croft ask plan Source/home -o jsonpath='{.plan}')"`]: { says: /home/ },
    'croft plan infra/ --base main --head my-branch': {
      before: `kill -TERM -- "-$manual"; wait "$manual"
git -C infra switch --quiet --create my-branch
sed -i 's/memory: 2560Mi/memory: 3Gi/' infra/vm.yaml
git -C infra commit --quiet --all --message 'More memory'
git -C infra switch --quiet main`,
      says: /Machine\/web-1/,
    },
    'export CROFT_FORGE_TOKEN=$(cat ~/forge-token)': { before: 'echo ghp_word > ~/forge-token' },
    'croft plan infra/ --base main --head my-branch --post github:me/home#12': {
      before: GITHUB,
      says: /The comment was made/,
    },
  },
}
