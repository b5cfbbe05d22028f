/** Every bound in one place. A queue, a retry, a page or a body without a number here is a defect. */
export const LIMITS = {
  /** Manifests */
  fileBytes: 4 * 1024 * 1024,
  files: 5000,
  /** The configuration of `croft run`, and a plan that was saved. */
  configurationBytes: 256 * 1024,
  savedPlanBytes: 64 * 1024 * 1024,
  /** Commits that are looked at for the one that removed a declaration. */
  historyCommits: 50,
  /** A commit's diff on the page: files with text, size of each, lines of all; edits searched for. */
  diff: { files: 40, fileBytes: 256 * 1024, lines: 1_500, lineLength: 300, context: 3, edits: 1_000 },
  treeBytes: 64 * 1024 * 1024,
  documentsPerFile: 10000,
  yamlDepth: 64,
  /** Characters of one document that needs the full (slow) YAML reader: definitions of Kubernetes have over a million. */
  yamlDocumentBytes: 2 * 1024 * 1024,
  /** Text of a file that a declaration writes out. */
  writtenFileLength: 256 * 1024,
  /** User data that is written as text, which is read in the main thread; and what any user data may have in all. */
  userDataText: 32 * 1024,
  userDataNodes: 5_000,
  yamlAliases: 100,
  yamlNodes: 200_000,
  /** Patterns and expressions that others wrote: how long, how often something is repeated, on how long a text. */
  patternLength: 500,
  patternRepeats: 100,
  patternTextLength: 10_000,
  patternsKept: 500,
  celLength: 2_000,
  /** Nested brackets. The parser takes half a second for 500 unclosed ones, and then the stack is full. */
  celDepth: 50,
  /** About microseconds, all turns of all loops together. */
  celCost: 100_000,
  celCharactersPerCost: 10_000,
  /** Dependencies of one declaration, and expressions for its readiness. */
  dependencies: 50,
  /** Objects that one instance of a composed API becomes. */
  composedDocuments: 500,
  /** An inventory of Ansible, and what its expressions may cost for one host. */
  inventory: {
    hosts: 1000,
    groups: 200,
    depth: 20,
    steps: 5_000,
    characters: 256 * 1024,
    flags: 500,
    knownHosts: 1000,
  },
  pathBytes: 1024,
  directoryEntries: 100_000,
  directoryDepth: 32,
  /** Built in one tree, each time that one is named; what they make is limited by `building`. */
  kustomizations: 10_000,
  /** Lines of a .croftignore. */
  ignoreRules: 500,
  /** Files other than manifests that the generators of one tree may read. */
  generatorFiles: 1000,
  /** Result of replacements and variables in one text. */
  builtTextLength: 1024 * 1024,
  /** Results of all kustomizations of one tree. */
  building: { documents: 20_000, nodes: 2_000_000, matches: 2_000_000, bytes: 64 * 1024 * 1024 },
  /** Documents of one tree. */
  documents: 50_000,
  cachedTrees: 50,
  cacheBytes: 64 * 1024 * 1024,
  /** Places that the add-ons of one source are fetched from. */
  fetchedPlaces: 200,
  fetchesAtOnce: 8,
  fetchAllMs: 60_000,
  /** First and longest delay before a failed fetch is retried. */
  fetchAgainMs: 10_000,
  fetchAgainMostMs: 600_000,
  /** Redirects followed. */
  redirects: 5,
  gitBytes: 96 * 1024 * 1024,
  gitTimeoutMs: 120_000,
  /** Findings per unreadable document. */
  findingsPerDocument: 3,
  problemsShown: 100,
  problemsKept: 1000,
  /** Timeout and memory of the separate process that reads untrusted text. */
  readMs: 60_000,
  readHeapMb: 256,
  /** The same for files that a person imports: an export has many times the size of what people write. */
  importHeapMb: 512,
  /** Expressions about what is there: how long one of them may take, and the memory of the process that evaluates them. */
  answerMs: 5_000,
  /** All of them in one pass. */
  answersMs: 30_000,
  answerHeapMb: 96,
  /** Memory of such a process beside its heap, interval of the check, and memory of an idle one. */
  cageProgramMb: 128,
  cageLookMs: 250,
  cageWarmMb: 160,
  /** First and longest delay before an ended expression or tree is tried again. */
  endedExpressionMs: 60_000,
  endedExpressionMaxMs: 3_600_000,
  /** Answers of expressions that are kept for as long as what they ask about is the same. */
  answersKept: 5_000,
  /** Values that are handed over from that thread at a time, unless one object alone has more. */
  pieceNodes: 20_000,
  /** Trees that were too costly and are tried again ever more seldom. */
  costlyTrees: 100,
  /** Work for one source yields after this time. */
  turnMs: 20,
  /** Objects that a source with a grant may declare, and that a pull request may add, before anything is linked. */
  grantedDeclarations: 1_000,
  /** Default quotas of a grant. */
  grantedMachines: 100,
  grantedObjects: 1_000,
  previewedDeclarations: 500,
  /** Objects of clusters that all add-ons of one source make. */
  sourceObjects: 20_000,
  /** Values in one declared object of a cluster; Kubernetes definitions have up to 30,000. */
  objectNodes: 40_000,
  /** Fields of one object that differ and are shown; it is applied as a whole. */
  objectChanges: 2_000,
  /** Length of a field's path in an object, and its depth. */
  fieldPathLength: 1024,
  fieldDepth: 200,
  /** Resources that a message names among those that claim one id. */
  claimantsNamed: 5,
  /** Characters parsed again in the main thread to find the place of a problem. */
  placedCharacters: 128 * 1024,
  /** Outside answers */
  /** One answer of an API, parsed in one turn. Larger lists of Kubernetes come in pages. */
  responseBytes: 8 * 1024 * 1024,
  /** Above this size values are counted first: so many lists and maps, and commas, take a tenth of a second. */
  jsonUncounted: 512 * 1024,
  jsonBrackets: 400_000,
  /** Definitions of libvirt: depth, characters of one tag, and tags. */
  xmlDepth: 200,
  xmlTagLength: 64 * 1024,
  xmlElements: 100_000,
  jsonCommas: 1_000_000,
  /** Packed values in a cluster. */
  unpackedStoreBytes: 64 * 1024 * 1024,
  foreignTextLength: 2000,
  /** Characters of a foreign error that are searched for what it means. */
  judgedErrorLength: 4_000,
  foreignNameLength: 256,
  surveyEntries: 200_000,
  /** Pages of one list of a Kubernetes API. */
  listPages: 1_000,
  /** Characters of one list, all pages together, and of what a watch adds to it. */
  listBytes: 64 * 1024 * 1024,
  /** Settings of one list that are read one by one, if the list has too few fields. */
  settingsReadClosely: 500,
  requestTimeoutMs: 30_000,
  /** One answer of a secret server. */
  secretAnswerBytes: 1024 * 1024,
  connectTimeoutMs: 10_000,
  /** Shorter than Proxmox's own timeout, so that our side closes. */
  idleConnectionMs: 4_000,
  /** For Kubernetes API servers, which keep connections for minutes; less than load balancers do. */
  idleClusterConnectionMs: 30_000,
  /** Examination of a connection: one call for each. */
  examinedHosts: 64,
  examinedPaths: 128,
  /** Programs on other computers */
  commandTimeoutMs: 60_000,
  commandOutputBytes: 16 * 1024 * 1024,
  shellFileBytes: 64 * 1024 * 1024,
  /** A larger file goes over a shell in pieces of this size, with this timeout each. */
  carriedPieceBytes: 8 * 1024 * 1024,
  carryMs: 600_000,
  /** sshd allows ten sessions per connection by default; one of them holds the connection. */
  channelsPerHost: 8,
  channelsWaiting: 10_000,
  busyRetries: 40,
  itemsPerHost: 2_000,
  batchedFileLength: 64 * 1024,
  /** A look at all items of a host, and one command on it, which may install packages. */
  probeTimeoutMs: 120_000,
  hostCommandMs: 120_000,
  busyRetryMs: 250,
  sshHops: 4,
  sshKeepaliveMs: 15_000,
  /** Linux limits one argument of a program to 128 KiB, and the command line is one. */
  sshLineLength: 120_000,
  sshTalkLength: 64 * 1024,
  /** Input that Proxmox passes to an agent in one call. */
  agentInputBytes: 64 * 1024,
  /** The final report of cloud-init. */
  cloudInitBytes: 64 * 1024,
  /** Parts of one file: an agent sends up to 16 MB at a time. */
  agentFileParts: 100,
  agentPoll: { baseMs: 50, factor: 1.6, maxMs: 1_000 },
  /** Engine */
  identicalFailuresUntilStalled: 5,
  backoff: { baseMs: 1_000, factor: 2, maxMs: 300_000 },
  waitingBackoff: { baseMs: 1_000, factor: 1.5, maxMs: 30_000 },
  connectionBackoff: { baseMs: 2_000, factor: 2, maxMs: 60_000 },
  /** Retry interval of a refused connection (wrong token, missing right). */
  refusedConnectionMs: 60_000,
  /** A guest that shows only the lock of its creation for this long, without a task, was abandoned. */
  desertedCreationMs: 20_000,
  /** Age of a guest list's power states: a Proxmox host samples every 10 s, and has delays. */
  statisticsMs: 20_000,
  /** A machine that we restarted has this long to become Ready before the next one may be restarted. */
  restartGraceMs: 600_000,
  /** Timeout for taking, reverting or removing a snapshot. */
  snapshotMs: 1_800_000,
  /** Consecutive looks at a suspicious connection before it is reported. */
  suspiciousPasses: 3,
  /** Attempts for a connection that never answered since an apply started; then the rest is finished without it. */
  unreachedPasses: 3,
  /** Consecutive failures to read one thing, although its connection answers. */
  unreadPasses: 20,
  sweepIntervalMs: 10_000,
  /** After a pass without changes, skip planning for so long while nothing observed changes. */
  quietMs: 600_000,
  /** Close looks that a settled pass of the controller renews: with 1,000 machines each is read again every 17 minutes. */
  sweepReads: 10,
  /** Guests of a connection that are asked for their addresses before another one is made with a fixed one. */
  addressLooks: 500,
  /** Timeout of a host's report on the addresses in its networks. */
  addressProbeMs: 20_000,
  /** How long addresses of a Proxmox cluster's nodes are cached. */
  nodeAddressesMs: 60_000,
  /** A task is named as the cause of a drift if it started at most so long before the drift was seen. */
  driftBlameMs: 3_600_000,
  blamedPerPass: 20,
  /** Controller */
  webhookDeliveries: 2000,
  /** Open pull requests that are looked at, comments of one that are searched (in hundreds), bytes of one answer. */
  pullRequests: 50,
  commentPages: 20,
  forgeAnswerBytes: 8 * 1024 * 1024,
  /** Plans for pull requests that are made between two passes. */
  previewsAtOnce: 2,
  consentsKept: 2_000,
  restPerResourceMs: 60,
  longestRestMs: 60_000,
  checksAtOnce: 8,
  rehearsedGuests: 5000,
  rehearsalRestMs: 120_000,
  rehearsalSampleMs: 1_000,
  rehearsalMs: 6 * 3_600_000,
  /** Processor time of a rehearsal, and how often it tells how far it is. */
  rehearsalCpuMs: 60_000,
  rehearsalToldMs: 3_000,
  probeBodyLength: 64 * 1024,
  /** Troubles over all receivers. With the two below, they fit into one stored value. */
  noticesKept: 500,
  noticeTextLength: 500,
  noticeNameLength: 1_200,
  /** Time after which the remaining notices wait for a newer view. */
  noticesLookMs: 5_000,
  mailTimeoutMs: 30_000,
  mailAnswerLength: 64 * 1024,
  /** Scalars of one manifest that are tried when a drift is taken into Git. */
  editedLeaves: 500,
  shortestLookMs: 100,
  readinessPollMs: 1_000,
  taskPollMs: 500,
  taskPollMaxMs: 2_000,
  /** Expected duration of a task before any has ended. */
  taskPollPerEffectMs: 60,
  /** Work that may wait behind the lock of a storage: Proxmox gives up on a lock after ten seconds. */
  lockQueueMs: 8_000,
  /** Initial window of a queue's effects, until the answers adapt it. */
  firstWindow: { host: 12, storage: 8 },
  /** How long to cache that a token sees all guests, or that an id is free. */
  idCheckMs: 60_000,
  /** Maximum delay of a guest's power in a survey: Proxmox renews it every ten seconds, and caches it for two. */
  surveyLagMs: 15_000,
  /** An awaited agent is asked again after this share of the time waited. */
  agentPatience: { share: 0.2, longestMs: 10_000 },
  /** How long a guest counts as created without a read. */
  asMadeMs: 600_000,
  /** A guest is deleted without another read if it was read at most so long ago and looks the same since. */
  deleteLookMs: 60_000,
  /** A shown plan is performed without another look if it is at most this old. */
  shownPlanMs: 5_000,
  /** Tasks that one list of a host tells of. */
  taskListLength: 500,
  /** Memory that a host reserves for itself at placement. */
  hostReserveBytes: 1024 * 1024 * 1024,
  /** A host that was busier than this for so long gets no new machine. */
  busyHost: { above: 0.9, forMs: 600_000 },
  /** Clusters in progress: interval of looks, as a share of the time waited. */
  clusterSockets: 6,
  /** Objects of a cluster that are written or read at once. */
  objectWrites: 8,
  /** Objects of one add-on, and what may be fetched for it. */
  addonObjects: 2_000,
  /** Objects of one cluster that a revision may delete without approval; a usual add-on has fewer. */
  objectDeletes: 10,
  /** Dependencies of an object per sort: secrets of its add-on, its charts, workloads of one earlier add-on. */
  needsPerSort: 20,
  addonBytes: 16 * 1024 * 1024,
  /** Charts that are rendered for a preview: how long Helm may take, how many fetched charts and results are kept. */
  chartMs: 60_000,
  proposedChartBytes: 4 * 1024 * 1024,
  chartsKept: 60,
  /** Helm that installs: each hook may take five minutes. A record that is pending for longer than this was left by a Helm that was killed. */
  releaseRunMs: 600_000,
  releaseStuckMs: 2_700_000,
  renderingsKept: 32,
  checksumFileBytes: 64 * 1024,
  /** Power in progress: interval of looks, minimum time before a step is repeated, timeouts of others. */
  powerLook: { shortestMs: 50, longestMs: 400, share: 1 / 40, patience: { longestMs: 10_000, share: 1 / 150 } },
  powerRepeatMs: 5_000,
  upsLookMs: 10_000,
  /** A UPS that says that its battery is low cuts the power in two to five minutes: no wait of a power-off is longer then. */
  lowBatteryWaitMs: 20_000,
  /** So long a low battery keeps to the order of the tiers: after it no wait is in the way of another host. */
  lowBatteryOrderMs: 60_000,
  upsAnswerMs: 3_000,
  /** The charge of a UPS is written down again when it has changed by so many percent. */
  upsChargeNoted: 5,
  hostAnswerMs: 5_000,
  hostLookMs: 1_000,
  powerCheckMs: 1_000,
  peopleLookMs: 5_000,
  clusterLook: { shortestMs: 100, longestMs: 5_000, share: 1 / 80 },
  /** Clusters: how long things may take before they count as failed, and how fresh evidence must be. */
  machineBootMs: 600_000,
  /** etcd itself gives up on a learner after five minutes. */
  clusterJoinMs: 300_000,
  /** A node that K3s refused twice with the same facts is started to join again so often. */
  joinAgainMs: 600_000,
  snapshotFreshMs: 3_600_000,
  /** K3s lists a snapshot within seconds of the end of its job. */
  snapshotListedMs: 120_000,
  /** Retry interval of a server that takes no snapshots. */
  snapshotAgainMs: 600_000,
  healthCheckFreshMs: 300_000,
  healthCheckAgainMs: 60_000,
  /** A node whose readiness changed more often than this within an hour is flapping. */
  readyChangesPerHour: 6,
  /** Timeout of one server's list of Nodes, before the others are asked. */
  clusterAnswerMs: 5_000,
  /** Timeout of a declared endpoint that failed last time, if a server answers. */
  endpointAnswerMs: 2_000,
  /** Timeout before the first answer ever: an API that is starting swallows early requests. */
  clusterFirstAnswerMs: 500,
  /** An admin's certificate is renewed when less than this is left of it. */
  adminRenewMs: 6 * 3_600_000,
  /** A token from a credential program is renewed when less than this is left of it. */
  credentialRenewMs: 60_000,
  credentialProgramMs: 60_000,
  /** A file that a kubeconfig names, and what a program prints. */
  kubeconfigFileBytes: 262_144,
  /** Interval at which a settled node is read over its shell; everything else about it comes from the API. */
  nodeFactsMs: 600_000,
  /** An undeclared, unreachable server counts as dead after this long, unless evictAfter differs. */
  evictUndeclaredMs: 86_400_000,
  snapshotListMs: 60_000,
  /** A list of a bucket: bytes and number of its pages (of 1,000 objects), and requests at once. */
  s3PageBytes: 2 * 1024 * 1024,
  s3Pages: 5,
  s3Requests: 8,
  /** Certificates of K3s that end sooner are reported. K3s renews them at a start in their last 90 or 120 days. */
  certificatesEndMs: 30 * 24 * 3_600_000,
  bootstrapTokenMs: 15 * 60_000,
  /** A failed install is shown for this long before it is tried again. */
  installAgainMs: 30_000,
  /** Retry interval of a node that could not fetch a release before a rollout. */
  programAgainMs: 300_000,
  nodesAskedAtOnce: 16,
  evictionsAtOnce: 8,
  watchSeconds: 300,
  /** A person's operations: timeout of one step, and interval of its polls. */
  /** Copying a snapshot between nodes: one piece, and the timeout of one call. */
  snapshotPieceBytes: 2 * 1024 * 1024,
  snapshotCopyMs: 20_000,
  operationStepMs: 15 * 60_000,
  /** An undeclared Node that is not Ready for so long after a restore has no machine. */
  vanishedNodeMs: 120_000,
  operationPollMs: 1_000,
  /** Steps of an operation that its watchers are shown. */
  operationTrail: 240,
  /** Store */
  eventsKept: 10_000,
  auditKept: 100_000,
  /** Rate at which refused strangers are logged: more would push all other entries out. */
  refusedAuditRate: { perSecond: 0.1, burst: 100 },
  refusedAuditLength: 500,
  storedValueLength: 1024 * 1024,
  storeBusyMs: 5_000,
  damagedStoresKept: 100,
  /** Server: sockets and bodies */
  serverConnections: 1024,
  serverHeaderBytes: 16 * 1024,
  serverHeadersMs: 10_000,
  serverRequestMs: 30_000,
  serverIdleMs: 65_000,
  serverCloseMs: 3_000,
  apiBodyBytes: 64 * 1024,
  /** Valid requests are not deeper. */
  apiBodyDepth: 16,
  webhookBodyBytes: 1024 * 1024,
  /** Server: how often one address may try, and how many addresses are remembered. */
  webhookRate: { perSecond: 5, burst: 20 },
  loginRate: { perSecond: 0.2, burst: 5 },
  loginNameRate: { perSecond: 2, burst: 60 },
  streamsPerAddress: 20,
  /** Resolution of the measured stalls of the event loop. Coarse, so that idling costs nothing. */
  stallResolutionMs: 100,
  rateBuckets: 10_000,
  /** Checking a password takes 32 MB: this many at once. */
  passwordChecksAtOnce: 2,
  passwordChecksWaiting: 20,
  passwordLength: 1024,
  /** Server: who may write */
  credentialsBytes: 4 * 1024 * 1024,
  users: 1000,
  sessions: 1000,
  sessionMs: 12 * 3_600_000,
  /** How long a shown code counts; wrong codes after which the session ends. */
  secondFactorMs: 10 * 60_000,
  secondFactorFailures: 5,
  /** Codes per user in all sessions: a thief of the password must not try a million of them. */
  secondFactorRate: { perSecond: 1 / 60, burst: 10 },
  /** A key of a person: how many, how long its id and the parts of its answers may be, how long an answer may take. */
  securityKeys: 10,
  securityKeyIdBytes: 1023,
  securityKeyTextLength: 4096,
  securityKeyMs: 5 * 60_000,
  keyInviteMs: 24 * 3_600_000,
  oidcSessionMs: 3_600_000,
  pendingLogins: 10_000,
  pendingLoginMs: 600_000,
  oidcAnswerBytes: 1024 * 1024,
  oidcTimeoutMs: 10_000,
  clockSkewMs: 60_000,
  apiTokens: 1000,
  apiTokenMs: 366 * 24 * 3_600_000,
  approvalMs: 24 * 3_600_000,
  /** Workloads of a cluster on the page, below an add-on; and how long they are cached for all readers. */
  workloadNodes: 1000,
  workloadContainers: 30,
  workloadEvents: 10,
  workloadNamespaces: 8,
  workloadsFreshMs: 3_000,
  /** Logs of pods: lines from the end, bytes without following, characters of a line, how long and how many at a time. */
  logTail: 2_000,
  logBytes: 2 * 1024 * 1024,
  logLineLength: 8_192,
  logFollowMs: 30 * 60_000,
  logReaders: 20,
  /** Consoles: bytes of one message, how long one may last on a host, how often a silent line is kept open. */
  consoleMessageBytes: 128 * 1024,
  consoleMs: 8 * 3_600_000,
  consoleBeatMs: 30_000,
  /** Consoles on the page: number, duration, and interval at which the right to them is judged. */
  consoles: 16,
  consolesPerPerson: 4,
  consoleIdleMs: 15 * 60_000,
  consoleTotalMs: 4 * 3_600_000,
  consoleOpenMs: 30_000,
  consoleJoinMs: 15_000,
  consoleJudgeMs: 2_000,
  /** Interval at which the rights of readers of streams and logs are judged. */
  openJudgeMs: 2_000,
  /** Bytes that the machine may be ahead of what the browser has drawn, and of one message from the browser. */
  consoleWindowBytes: 256 * 1024,
  consoleTypedBytes: 16 * 1024,
  /** Server: the live stream */
  streamClients: 200,
  streamClientBytes: 4 * 1024 * 1024,
  streamMessages: 500,
  streamMessagesBytes: 16 * 1024 * 1024,
  streamHeartbeatMs: 10_000,
  streamPauseMs: 200,
  /** How long the stream is kept without viewers: those who return in time miss nothing. */
  streamLingerMs: 60_000,
  historyPage: 1000,
  listPage: 5000,
  pageTextLength: 8 * 1024,
  pageManifestLength: 256 * 1024,
  healthSlots: 48,
  healthSlotMs: 30 * 60_000,
  healthSubjects: 20_000,
  /** History over days: hours of clusters, hosts and checks, and quarter hours of their load, kept in the store. */
  historyDays: 90,
  historySubjects: 300,
  gaugeDays: 14,
  gaugeSubjects: 400,
  gaugeSlotMs: 15 * 60_000,
  /** Longer than this between two looks: the state in between is unknown. */
  historyGapMs: 5 * 60_000,
  historySaveMs: 5 * 60_000,
  /** Courses of upgrades, restores and power: how many of each cluster or Power, how much of each, and how long a pause
   * one of them survives. */
  coursesKept: 3,
  courseKeys: 50,
  courseTracks: 60,
  courseBars: 60,
  courseVotes: 200,
  courseTextLength: 200,
  coursePauseMs: 10 * 60_000,
  /** The page of states that strangers may read: how long one rendering of it counts, and how much it may show. */
  statusMs: 15_000,
  statusEntries: 100,
  statusTextLength: 200,
  buildPageMs: 120_000,
  /** Terminal */
  shownValueLength: 200,
  /** Fields of the configuration of one thing that the page shows. */
  observedFields: 400,
  /** How long a request waits for the end of its work. */
  wishPatienceMs: 20_000,
  /** Commits that are remembered with their subject and author, for the timeline. */
  commitsKept: 50,
  /** Pause after a pass in which croft itself failed. */
  failedPassMs: 30_000,
  progressLinesShown: 12,
  heartbeatMs: 10_000,
  settleDeadlineMs: 30 * 60_000,
} as const
