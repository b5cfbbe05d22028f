import { Command, Option } from 'commander'
import { HYPERVISORS } from '../model/hypervisors.ts'
import { noticingErrors } from './found-errors.ts'
import { exampleText, GROUP_OF, GROUPS } from './help.ts'
import { note, wholeNumber } from './output.ts'
import { NAMES_ONLY, needsKinds, placed } from './place.ts'
import type { Runtime } from './runtime.ts'
import { kindNamed } from './select.ts'
import { UsageError, type Verb, type VerbResult } from './verb.ts'
import { type DirectoryOf, namingDirectory } from './with-directory.ts'

/** The whole command tree. What each verb does is in verbs/, one file each. */
export function createProgram(runtime: Runtime, done: (answer: VerbResult) => void): Command {
  const program = new Command('croft')
    .description('Keeps K3s clusters, and the machines beneath them, as Git says they are.')
    .enablePositionalOptions()
    .commandsGroup(GROUPS.at(-1) ?? '')
    .helpCommand('help [command]', 'show help for a command')
    .showHelpAfterError(false)
    .configureHelp({ showGlobalOptions: false })
    .addHelpText(
      'after',
      `\nExit codes: 0 success, 1 failed, 2 plan found changes, 3 held or not ready in time, 4 not authorized, 64 wrong usage.
Options of every command on a directory: --dir DIR, --context NAME.
Environment: CROFT_DIR, CROFT_CONTEXT, CROFT_STATE, CROFT_LOG=debug, NO_COLOR, FORCE_COLOR, XDG_STATE_HOME, XDG_CACHE_HOME.

Start with:  croft demo        a tour on a simulated datacentre; touches nothing real
             croft plan DIR    show what croft would change, and why`,
    )
  program.version(runtime.version, '-V, --version', 'show the version')

  const verb = (usage: string, summary: string, load: () => Promise<{ readonly run: Verb }>): Command => {
    const name = usage.split(' ')[0] ?? ''
    const command = program
      .command(usage)
      .helpGroup(GROUP_OF[name] ?? '')
      .description(summary)
      .addHelpText('after', exampleText(name))
      // An extra word may be the directory.
      .allowExcessArguments(NAMES_ONLY.has(name))
      .action(async (...given: unknown[]) => {
        const command = given.at(-1) as Command
        const options = command.opts()
        const most = command.registeredArguments.length
        const about = { name, takesDirectory: usage.includes('[dir]'), most }
        const context = await contextOf(runtime, command)
        const env = context === undefined ? runtime.env : { ...runtime.env, CROFT_DIR: context.dir }
        const kinds = needsKinds(name, command.args) ? await runtime.kinds() : []
        const isKind = (word: string) => word === 'all' || kindNamed(kinds, word) !== undefined
        const option = options.dir as string | undefined
        const { words, dir } = placed(about, command.args, option, env, runtime.cwd, isKind)
        if (context !== undefined && dir === context.dir) note(runtime, `Context ${context.name}: ${dir}`)
        else if (context !== undefined && options.context !== undefined)
          throw new UsageError(`Both ${dir} and --context ${context.name} are given. Name one.`)
        if (NAMES_ONLY.has(name) && words.length > most)
          throw new UsageError(
            `Too many arguments for ${name}: ${words.slice(most).join(' ')}. Run croft ${name} --help.`,
          )
        const { run } = await load()
        const noticing = noticingErrors(name, runtime)
        const named = dir === '.' ? undefined : dir
        const answered = await namingDirectory(noticing.runtime, name, options, named, directoriesOf(program), (told) =>
          run(told, words, { ...options, dir }),
        )
        done(noticing.exitOf(answered))
      })
    return usage.includes('[dir]') ? command.addOption(directory().hideHelp()) : command
  }

  verb(
    'init [dir]',
    'start an estate: identity, age key, connection and first cluster, by asking or from the options',
    () => import('./verbs/init.ts'),
  )
    .option('--proxmox <address>', 'write the connection to this Proxmox')
    .option('--fingerprint <sha256>', 'the certificate that it must show, if this computer does not trust it')
    .option('--token-env <name>', 'environment variable that holds the token (default: PROXMOX_TOKEN)')
    .option('--cluster <name>', 'write a first cluster of this name (default: home)')
    .option('--addresses <from-to>', 'free addresses: the first for the Kubernetes API, the others for machines')
    .option('--servers <number>', 'servers of the cluster: 1, 3 or 5 (default: 3 if there are three hosts)')
    .option('--k3s <version>', 'version of K3s')
    .option('--bridge <name>', 'bridge for the machines')
    .option('--disks <storage>', 'storage for their disks')
    .option('--files <storage>', 'storage for images')
    .option('--network <cidr>', 'network behind the bridge, if the hosts have no address there')
    .option('--gateway <address>', 'gateway of that network')
    .option('--ssh-key <key>', 'public key, or its file, of the login on the nodes (default: no login)')
    .option('--login <user>', 'name of that login (default: ops)')
    .option('-y, --yes', 'do not ask')
    .addOption(state())
  verb(
    'validate [dir]',
    'check every manifest in a directory, or one file',
    () => import('./verbs/validate.ts'),
  ).addOption(output())
  verb(
    'plan [dir]',
    'show exactly what apply would do; exit code 2 if there are changes',
    () => import('./verbs/plan.ts'),
  )
    .addOption(output(['wide']))
    .option('--calls', 'show the exact call behind every step')
    .option('--out <file>', 'save the plan; croft apply FILE performs exactly this one')
    .addOption(target())
    .option('--base <ref>', 'with --head: what a pull request changes, as markdown')
    .option('--head <ref>', 'with --base: the branch or commit of the pull request')
    .option('--post <where>', 'with --base: write it there, e.g. github:owner/name#12; token in CROFT_FORGE_TOKEN')
    .addOption(keepGoing())
    .addOption(state())
  verb('diff [dir]', 'show what differs from Git; the same as plan', () => import('./verbs/plan.ts'))
    .addOption(output(['wide']))
    .addOption(keepGoing())
    .addOption(state())
  verb(
    'rehearse [dir]',
    'perform the plan on a simulated copy of your hosts; writes nothing real',
    () => import('./verbs/rehearse.ts'),
  )
    .addOption(output())
    .addOption(keepGoing())
    .addOption(state())
  verb('apply [dir]', 'perform the plan, or a saved one, until everything is ready', () => import('./verbs/apply.ts'))
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--dry-run', 'only plan')
    .option('--timeout <duration>', 'give up waiting after this long; 30m plus the time that the plan expects')
    .option('--calls', 'show the exact call behind every step')
    .addOption(target())
    .addOption(progress())
    .addOption(keepGoing())
    .addOption(state())
  verb(
    'run [source]',
    'run the controller: follow Git, keep everything as declared, serve the page',
    () => import('./verbs/run.ts'),
  )
    .option('--config <file>', 'configuration; see docs/run.md')
    .option('--listen <address>', 'where the page is served, e.g. 127.0.0.1:8087, or off')
    .option('--branch <name>', 'branch of the source')
    .option('--path <dir>', 'only this directory of the source')
    .option('--poll <duration>', 'how often to poll the source if no webhook announces a push')
    .option('--wait', 'wait for another croft on the same database to end, instead of refusing')
    .addOption(new Option('--log <format>', 'format of the log').choices(['text', 'json']).default('text'))
    .addOption(state())
  verb('operator', 'run the controller on the objects of a Kubernetes cluster', () => import('./verbs/operator.ts'))
    .option('--kubeconfig <file>', 'how to reach the cluster; without it, as the pod that croft runs in')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--namespace <name>', 'namespace of its objects and its state; default croft-system')
    .option('--grants <file>', 'other namespaces to read, each with what its objects may name')
    .option('--name <name>', 'name of this replica; default POD_NAME')
    .option('--health <address>', 'where /healthz and /readyz answer, e.g. 0.0.0.0:8081; default nowhere')
    .option(
      '--own-apis',
      'create what instances of graphs and compositions in the cluster declare, in place of kro or Crossplane',
    )
  for (const [name, what, load] of [
    [
      'move-in',
      'let the operator in a cluster keep this estate: records, effects in flight, vault',
      () => import('./verbs/move-in.ts'),
    ],
    ['move-out', 'bring an estate back from the operator in a cluster', () => import('./verbs/move-out.ts')],
  ] as const)
    verb(`${name} [dir]`, what, load)
      .requiredOption('--kubeconfig <file>', 'how to reach the cluster')
      .option('--kube-context <name>', 'context of the kubeconfig')
      .option('--namespace <name>', "the operator's namespace; default croft-system")
      .addOption(state())
  verb(
    'doctor [dir]',
    'check connections, certificates, clocks, tokens and privileges, and print each fix',
    () => import('./verbs/doctor.ts'),
  )
    .option('--role', 'print the commands for the smallest role that the declarations need')
    .addOption(new Option('--pve <version>', 'for which Proxmox VE --role is meant').choices(['8', '9']).default('9'))
    .addOption(output())
  verb(
    'selftest [cluster]',
    'test a cluster on its own hardware: machines, API, nodes, etcd, backups; changes nothing that runs',
    () => import('./verbs/selftest.ts'),
  )
    .option('--snapshot', 'also take a snapshot of etcd')
    .option('--drill <host>', 'also take a snapshot and restore it on this host, which is wiped at the end')
    .addOption(output())
    .addOption(directory())
    .addOption(state())
  verb('get [kind] [name]', 'list resources with their state', () => import('./verbs/get.ts'))
    .addOption(output(['wide', 'name']))
    .option('-w, --watch', 'keep running and show changes')
    .option('--no-headers', 'no header line')
    .option('-l, --selector <labels>', 'only what carries these labels, e.g. app=web,tier!=db')
    .addOption(directory())
    .addOption(state())
  verb('describe <kind> [name]', 'show one resource: conditions, failures, events', () => import('./verbs/describe.ts'))
    .addOption(output())
    .addOption(directory())
    .addOption(state())
  verb('events [resource]', 'list events, oldest first', () => import('./verbs/events.ts'))
    .option('-w, --watch', 'keep running and show new events')
    .option('--audit', 'who asked for what instead: commits, page, API and commands')
    .option('--limit <count>', 'at most this many', wholeNumber('--limit', 1, 10_000), 200)
    .option('--no-headers', 'no header line')
    .addOption(output())
    .addOption(directory())
    .addOption(state())
  verb(
    'why <resource>',
    'explain how a resource got into its state: commit, plan, call, result',
    () => import('./verbs/why.ts'),
  )
    .option('--limit <count>', 'at most this many events', wholeNumber('--limit', 1, 10_000), 200)
    .addOption(output())
    .addOption(directory())
    .addOption(state())
  verb(
    'health [dir]',
    'check everything: what is wrong, since when, why, what to do; exit code 0 only if all is well',
    () => import('./verbs/health.ts'),
  )
    .alias('status')
    .option('-w, --watch', 'keep running and show changes')
    .addOption(output())
    .addOption(new Option('--json', 'the same as -o json').hideHelp())
    .addOption(state())
  verb(
    'support-bundle [dir]',
    'write a file for a support request, without secrets',
    () => import('./verbs/support-bundle.ts'),
  )
    .option('--write <file>', 'the file to write, which must not exist', 'croft-support.json')
    .addOption(state())
  verb(
    'downgrade [dir]',
    'migrate the database back by one version, for the previous croft',
    () => import('./verbs/downgrade.ts'),
  ).addOption(state())
  verb(
    'delete <kind> [name]',
    'delete the external object of a resource that is no longer declared',
    () => import('./verbs/delete.ts'),
  )
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--timeout <duration>', 'give up waiting after this long', '30m')
    .addOption(progress())
    .addOption(directory())
    .addOption(state())
  verb(
    'leave [kind] [name]',
    'take croft off a thing, a cluster or everything, and destroy nothing (docs/leaving.md)',
    () => import('./verbs/leave.ts'),
  )
    .option('--to <dir>', 'directory for CA, tokens, kubeconfig and what another tool needs')
    .option('-y, --yes', 'do it; without it croft only shows what it would take off')
    .addOption(directory())
    .addOption(state())
  const hypervisors = HYPERVISORS.map(({ driver }) => driver).join(', ')
  verb(
    'import <from> <path>',
    `write manifests for what exists: from ${hypervisors}, or files of another tool (docs/import.md)`,
    () => import('./verbs/import.ts'),
  )
    .option('--guest <ids>', `${hypervisors}: these guests, e.g. 108,109, or UUIDs`)
    .option('--all', `${hypervisors}: every guest that is not declared yet`)
    .option('--settings [kinds]', 'proxmox: pools, users, storages and other settings instead of guests')
    .option('--cluster <name>', 'files: the Cluster that add-ons are for; k3s-ansible: what it is called')
    .option('--host <name>', 'files: the Host that machines are on, where the files do not say')
    .option(
      '--under <directory>',
      'one cluster, where the files hold several: a directory (flux), an inventory (k3s-ansible), a file',
    )
    .option('--write <file>', 'write to this file, which must not exist, instead of printing')
  verb(
    'capacity [dir]',
    'show what hosts have free, what is committed, and what still fits',
    () => import('./verbs/capacity.ts'),
  )
    .option('--memory <size>', 'also say how many machines of this size would fit, e.g. 4Gi')
    .addOption(output())
  verb(
    'machine <what> <name> [words...]',
    'start, stop, reboot, console, snapshots, snapshot, revert, drop-snapshot, exec, read or write: operations on one machine',
    () => import('./verbs/machine.ts'),
  )
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--timeout <duration>', 'give up waiting after this long')
    .option('--mode <mode>', 'write: mode of the file; default 0600')
    .addOption(progress())
    .addOption(directory())
    .addOption(state())
  verb(
    'console <name>',
    'open the serial console of a machine; leave it with Ctrl-]',
    () => import('./verbs/console.ts'),
  )
    .addOption(directory())
    .addOption(state())
  verb(
    'cluster <what> [cluster] [words...]',
    'kubeconfig, upgrade, backup, snapshots, restore, replace, rotate, remove-member, forget, recover or escrow: operations on one cluster',
    () => import('./verbs/cluster.ts'),
  )
    .option('--merge', 'kubeconfig: write it into the kubeconfig instead of printing it')
    .option('--switch-context', 'kubeconfig: make it the context that kubectl uses')
    .option('--file <file>', 'kubeconfig: this file instead of KUBECONFIG or ~/.kube/config')
    .option('--ttl <duration>', 'kubeconfig: how long the certificate is valid; default 720h')
    .option('--pause', 'upgrade: finish what has begun, begin nothing new')
    .option('--resume', 'upgrade: continue a paused or halted one')
    .option('--abort', 'upgrade: stop it, and uncordon every node that was cordoned for it')
    .option('--now', 'backup: take one now')
    .option('--drill <host>', 'backup: restore the newest on this throw-away machine, and say what that proved')
    .option('--server <name>', 'restore: the server that starts over from the snapshot')
    .option('--present-token', 'restore: the snapshot was taken with the token of today')
    .option('--confirm <cluster>', 'restore: overwrite this cluster although it runs; its name confirms it')
    .option('--no-snapshot', 'restore: take no snapshot of the present state first')
    .option('--from <server>', 'recover: read CA and token from this server')
    .option('--plan', 'restore, rotate, backup: only list the steps')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .addOption(output())
    .addOption(directory())
    .addOption(state())
  verb(
    'power [what] [name]',
    'off, on, status, hold or release: power a cluster or site off and on in order',
    () => import('./verbs/power.ts'),
  )
    .option('--plan', 'off, on: only list the tiers and what would be done')
    .option('--why <text>', 'off, on, hold: the reason, shown wherever the state is shown')
    .option('--for <duration>', 'off, on, hold: for this long, e.g. 8h; default for a hold: 1h')
    .option('--ignore-holds', 'off: do not wait for people, backups and jobs; on: nor for a UPS to be charged')
    .option('--all', 'release: also the holds of others')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .addOption(output())
    .addOption(directory())
    .addOption(state())
  verb('pods [cluster]', 'list the pods of a cluster, with their nodes', () => import('./verbs/pods.ts'))
    .option('-w, --watch', 'keep running and refresh')
    .addOption(output())
    .addOption(directory())
    .addOption(state())
  verb('move <name> <host>', 'move a machine to another host now', () => import('./verbs/move.ts'))
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--timeout <duration>', 'give up waiting after this long')
    .addOption(progress())
    .addOption(directory())
    .addOption(state())
  verb('image <what> <name>', 'build, verify or plan an image that is made here', () => import('./verbs/image.ts'))
    .option('--boot', 'verify: start it in QEMU too, and look at the machine that it becomes')
    .option('--timeout <duration>', 'verify --boot: give up after this long', '15m')
    .addOption(output())
    .addOption(directory())
  verb(
    'host <what> <name> [words...]',
    'enroll, diff, run, copy, upload-iso, reboot, wake, facts, devices, iommu, smart or pools: operations on one host',
    () => import('./verbs/host.ts'),
  )
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--timeout <duration>', 'run: end it after this long')
    .option('--mode <mode>', 'copy: mode of the file; default 0644')
    .option('--storage <storage>', 'upload-iso: the storage; default local')
    .option('--as <name>', 'upload-iso: what it is called there')
    .option('--address <address>', 'enroll: its address')
    .option('--user <user>', 'enroll: the user on that host; default root')
    .option('--port <port>', 'enroll: port of its sshd', wholeNumber('--port', 1, 65_535), 22)
    .option('--key <file>', 'enroll: the private key, created if it does not exist; default ~/.ssh/croft_ed25519')
    .option('--host-key <key>', 'enroll: its public host key, instead of asking about the one that it shows')
    .option('--password-env <name>', 'enroll: the environment variable with the password, instead of asking')
    .option('--keep-password', 'enroll: keep password login enabled')
    .addOption(output())
    .addOption(directory())
    .addOption(state())
  verb(
    'export [kind] [name]',
    'print manifests in normal form; or argocd|flux DIR: write a repository for them',
    () => import('./verbs/export.ts'),
  )
    .option('--repository <url>', 'argocd, flux: where that repository will be found')
    .addOption(directory())
  verb(
    'user <what> [name]',
    'set, list, totp, invite, keys, sign-out or remove users of the page',
    () => import('./verbs/user.ts'),
  )
    .option('--role <role>', 'set: viewer, operator or admin')
    .option('--password-file <file>', 'set: take the password from this file instead of making one')
    .option('--new-password', 'set: make a new password for a user who has one')
    .option('--oidc-issuer <url>', 'set: link with somebody at this OpenID Connect provider; invite, keys: of whom')
    .option('--oidc-subject <sub>', 'set: who that is, the subject by which the provider identifies that person')
    .option('--remove', 'totp: remove the authenticator app')
    .option('--remove-key <id>', 'keys: remove the security key whose id begins like this')
    .option('--no-password', 'set: signs in with OpenID Connect only')
    .option('--file <file>', 'users file, where it is not the usual one')
    .addOption(output())
  verb(
    'ask <what> [resource]',
    'reconcile, suspend, resume, approve, adopt, revert, plan, sessions or end-session: ask the running controller',
    () => import('./verbs/ask.ts'),
  )
    .option('--url <url>', 'where its page is; CROFT_URL, or http://127.0.0.1:8087')
    .option('--field <field...>', 'adopt: only these fields')
    .addOption(output())
  verb(
    'context [what] [name] [place]',
    'list, add, use or remove names for directories and controllers',
    () => import('./verbs/context.ts'),
  ).addOption(output())
  verb('token <what> [name]', 'create, list or revoke tokens for the API', () => import('./verbs/token.ts'))
    .option('--scopes <list>', 'create: some of read,operate,approve,power,admin', 'read')
    .option('--expires <time>', 'create: how long it is valid, e.g. 12h or 90d', '90d')
    .option('--file <file>', 'tokens file, where it is not the usual one')
    .addOption(output())
  verb('schema [kind]', 'print JSON Schema of the manifests, for editors', () => import('./verbs/schema.ts'))
    .option('--crds', 'print CustomResourceDefinitions of croft for a Kubernetes cluster instead')
    .addOption(directory())
  verb(
    'explain [field]',
    'describe a kind or a field, e.g. cluster.spec.upgrade',
    () => import('./verbs/explain.ts'),
  ).addOption(directory())
  verb('sim', 'serve a simulated datacentre that speaks the Proxmox API over HTTPS', () => import('./verbs/sim.ts'))
    .option('--hosts <count>', 'how many hosts', wholeNumber('--hosts', 1, 100))
    .option('--port <port>', 'port on 127.0.0.1; 0 picks a free one', wholeNumber('--port', 0, 65_535), 8006)
    .addOption(new Option('--preset <name>', 'initial state').choices(['hosts', 'homelab', 'recording', 'empty']))
    .addOption(
      new Option(
        '--like <place>',
        'simulate the site that this directory of manifests, or this file of hosts, describes',
      ).conflicts(['preset', 'hosts', 'vms']),
    )
    .option('--connection <name>', 'for --like: which Proxmox connection, where there are several')
    .option('--vms <count>', 'fill it with this many machines', wholeNumber('--vms', 0, 100_000))
    .option('--seed <number>', 'seed of its random values, for repeatable runs', wholeNumber('--seed', 0, 2 ** 32 - 1))
    .option('--speed <factor>', 'runs its clock this many times faster', positive)
    .option('--proxy', 'also serve a proxy to the Kubernetes APIs of simulated clusters')
    .option(
      '--write <dir>',
      'write a connection to it (with --like: a copy of the manifests), and a sim.env for your shell, into this directory',
    )
  verb(
    'demo',
    'a tour: a simulated datacentre, a Git repository and croft between them',
    () => import('./verbs/demo.ts'),
  )
    .option('--once', 'end by itself; exit 0 only if the tour reached its end')
    .option('--no-open', 'do not open the page in a browser')
    .addOption(
      new Option('--speed <factor>', 'how many simulated seconds in one real second').argParser(positive).hideHelp(),
    )
  verb('version', 'show the version', () => import('./verbs/version.ts'))
    .addOption(output())
    .option('--verify [package]', 'check that a package file, or this copy, is what was released')
    .option('--signers <file>', 'for --verify: accepted signers, in the format of ssh-keygen')
  verb('completion <shell>', 'print a completion script for bash, zsh or fish', () => import('./verbs/completion.ts'))

  program
    .command('__complete [words...]', { hidden: true })
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[]) => {
      const { complete } = await import('./complete.ts')
      done(await complete(runtime, program, words))
    })
  for (const command of program.commands)
    if (takesContext(command) || command.name() === 'ask') command.addOption(contextOption())
  // The help tells them in the order in which a person meets them.
  const place = new Map(Object.keys(GROUP_OF).map((name, index) => [name, index]))
  ;(program.commands as Command[]).sort((a, b) => (place.get(a.name()) ?? 99) - (place.get(b.name()) ?? 99))
  return program
}

/** Each verb defines `-o` itself: on the root, commander would silently accept `-o xml`. */
/** For people, or for programs in one of three forms that every verb has. */
function output(forPeople: readonly string[] = []): Option {
  const option = new Option('-o, --output <format>', 'how to print').choices([...forPeople, 'json', 'yaml'])
  const strict = option.parseArg
  option.description += '; or jsonpath=TEMPLATE, e.g. jsonpath={.items[*].metadata.name}'
  return option.argParser((value: string, previous: string) =>
    value.startsWith('jsonpath=') ? value : String(strict?.(value, previous) ?? value),
  )
}

function keepGoing(): Option {
  return new Option('--keep-going', 'continue with the valid manifests when others are not')
}

function contextOption(): Option {
  return new Option('--context <name>', 'work in this context; CROFT_CONTEXT, or the one in use').hideHelp()
}

/** Verbs that work on a directory, but for the one that makes it. */
function takesContext(command: Command): boolean {
  return command.name() !== 'init' && command.options.some(({ long }) => long === '--dir')
}

/** The directory that a context names, where the command works on one and no other is named. */
async function contextOf(
  { env }: Runtime,
  command: Command,
): Promise<{ readonly name: string; readonly dir: string } | undefined> {
  if (!takesContext(command)) return undefined
  const { directoryByContext, readContexts } = await import('./contexts.ts')
  const { context, dir } = command.opts<{ context?: string; dir?: string }>()
  return directoryByContext(command.name(), readContexts(env), { context, dir }, env)
}

function directory(): Option {
  return new Option('--dir <dir>', 'directory with the manifests; CROFT_DIR, or the current one')
}

function state(): Option {
  return new Option('--state <file>', 'database to use instead of the one kept for the directory')
}

function target(): Option {
  return new Option(
    '--target <name>',
    'only this and what it needs, e.g. web-1 or Cluster/home; may be repeated',
  ).argParser((name: string, before: readonly string[] | undefined) => [...(before ?? []), name])
}

function progress(): Option {
  return new Option('--progress <mode>', 'how to show progress')
    .choices(['auto', 'tty', 'plain', 'json', 'quiet'])
    .default('auto')
}

function positive(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 1_000_000)) throw new Error(`--speed ${text} is not a positive number. Correct it.`)
  return value
}

function directoriesOf({ commands }: Command): DirectoryOf {
  return new Map(
    commands
      .filter(({ options }) => options.some(({ long }) => long === '--dir'))
      .map((one) => [one.name(), one.registeredArguments[0]?.name() === 'dir' ? 'argument' : 'option']),
  )
}
