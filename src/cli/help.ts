/** The groups of `croft --help`, in the order in which people need them. */
export const GROUPS = [
  'Getting started:',
  'Change:',
  'Inspect:',
  'Operate:',
  'Existing infrastructure:',
  'Other:',
] as const

const VERBS: Readonly<Record<(typeof GROUPS)[number], readonly string[]>> = {
  'Getting started:': ['demo', 'init', 'sim', 'explain', 'schema', 'validate', 'doctor'],
  'Change:': ['plan', 'diff', 'rehearse', 'apply', 'run', 'operator', 'move-in', 'move-out', 'delete'],
  'Inspect:': ['health', 'get', 'describe', 'why', 'events', 'pods', 'capacity', 'selftest', 'support-bundle'],
  'Operate:': ['cluster', 'machine', 'console', 'host', 'power', 'move', 'image', 'ask'],
  'Existing infrastructure:': ['import', 'export', 'leave'],
  'Other:': ['context', 'user', 'token', 'downgrade', 'completion', 'version', 'help'],
}

export const GROUP_OF: Readonly<Record<string, string>> = Object.fromEntries(
  GROUPS.flatMap((group) => VERBS[group].map((verb) => [verb, group])),
)

/** One or two example command lines per verb. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  init: ['croft init infra/'],
  context: ['croft context add home infra/', 'croft context use home'],
  validate: ['croft validate infra/'],
  plan: [
    'croft plan infra/ --calls',
    'croft plan infra/ --out plan.json',
    'croft plan infra/ --base main --head my-branch',
  ],
  diff: ['croft diff infra/'],
  rehearse: ['croft rehearse infra/'],
  apply: ['croft apply infra/', 'croft apply plan.json', 'croft apply infra/ --yes --timeout 15m --progress plain'],
  operator: ['croft operator --kubeconfig ~/.kube/config --namespace croft-system'],
  'move-in': ['croft move-in --kubeconfig ~/.kube/homelab --namespace croft-system'],
  'move-out': ['croft move-out --kubeconfig ~/.kube/homelab --namespace croft-system'],
  run: ['croft run infra/', 'croft run https://git.example/me/home.git --listen 127.0.0.1:8087'],
  doctor: ['croft doctor infra/', 'croft doctor infra/ --role'],
  get: ['croft get infra/', 'croft get web-1 -o yaml', 'croft get machines -w'],
  describe: ['croft describe web-1 infra/'],
  events: ['croft events machine/web-1 -w', 'croft events --audit'],
  why: ['croft why web-1 infra/'],
  health: ['croft health infra/', 'croft health infra/ --json'],
  selftest: ['croft selftest homelab --dir infra/', 'croft selftest homelab --drill spare-box'],
  'support-bundle': ['croft support-bundle infra/ --write croft-support.json'],
  downgrade: ['croft downgrade infra/'],
  delete: ['croft delete machine/old-one --dir infra/'],
  leave: [
    'croft leave machine/web-1 --dir infra/',
    'croft leave Cluster/homelab --dir infra/ --to ~/homelab-keys --yes',
  ],
  import: [
    'croft import proxmox infra/ --guest 108,109',
    'croft import proxmox infra/ --all --write infra/imported.yaml',
  ],
  capacity: ['croft capacity infra/ --memory 4Gi'],
  machine: [
    'croft machine reboot web-1 --dir infra/',
    'croft machine snapshot web-1 before-upgrade --dir infra/',
    'croft machine exec web-1 --dir infra/ -- systemctl status nginx',
  ],
  console: ['croft console web-1 infra/'],
  cluster: [
    'croft cluster kubeconfig homelab > kubeconfig',
    'croft cluster backup homelab --now',
    'croft cluster snapshots homelab',
    'croft cluster replace homelab k3s-2',
  ],
  power: ['croft power off homelab --plan', 'croft power off homelab --why holidays', 'croft power on homelab'],
  pods: ['croft pods homelab -w'],
  move: ['croft move web-1 still-fawn --dir infra/'],
  image: ['croft image build noble-k3s --dir infra/', 'croft image verify noble-k3s --dir infra/ --boot'],
  host: ['croft host enroll cow --address 192.168.14.2 --user k3s', 'croft host run cow -- journalctl -u k3s -n 50'],
  export: ['croft export machine/web-1 --dir infra/', 'croft export flux ../clusters --dir infra/'],
  user: ['croft user set anna --role operator', 'croft user list'],
  ask: ['croft ask approve machine/old-one', 'croft ask reconcile', 'croft ask plan Source/main', 'croft ask sessions'],
  token: ['croft token create ci --scopes read,operate --expires 90d'],
  schema: ['croft schema > croft.schema.json', 'croft schema --crds > croft-crds.yaml'],
  explain: ['croft explain machine', 'croft explain cluster.spec.upgrade'],
  sim: ['croft sim --preset homelab --speed 20'],
  demo: ['croft demo --once'],
  version: ['croft version -o json'],
  completion: ['source <(croft completion bash)'],
}

export function exampleText(verb: string): string {
  const examples = EXAMPLES[verb] ?? []
  if (examples.length === 0) return ''
  return `\n${examples.length === 1 ? 'Example' : 'Examples'}:\n${examples.map((one) => `  ${one}`).join('\n')}`
}
