PRAGMA application_id = 1668441716;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE audit (seq INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL) STRICT;
INSERT INTO "audit" VALUES(1,'{"atMs":1795086453060,"actor":"cli:root","from":"cli","what":"apply","subject":"files-cad00ea3e201e33c","outcome":"done","message":"asked for 2 actions"}');
INSERT INTO "audit" VALUES(2,'{"atMs":1795086666900,"actor":"cli:root","from":"cli","what":"backup of home","subject":"Cluster/home","outcome":"done","message":"begun: 1 steps, 0 nodes lose their data"}');
INSERT INTO "audit" VALUES(3,'{"atMs":1795086676560,"actor":"cli:root","from":"cli","what":"backup of home","subject":"Cluster/home","outcome":"done","message":"1/1 take a snapshot of etcd on home-1"}');
INSERT INTO "audit" VALUES(4,'{"atMs":1795086677000,"actor":"cli:root","from":"cli","what":"backup of home","subject":"Cluster/home","outcome":"done","message":"ended"}');
INSERT INTO "audit" VALUES(5,'{"atMs":1795087377600,"actor":"cli:root","from":"cli","what":"restore of home from croft-1795086673-home-1-1795086675","subject":"Cluster/home","outcome":"refused","message":"home-1 cannot be reached to stop K3s on it"}');
CREATE TABLE entries (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "entries" VALUES('cluster-backups/home','[{"name":"croft-1795086673-home-1-1795086675","atMs":1795086675000,"tokenKept":"yes","tokenHash":"3c4e768edd44","location":"file:///var/lib/rancher/k3s/server/db/snapshots/croft-1795086673-home-1-1795086675","node":"home-1","bytes":2376000}]');
INSERT INTO "entries" VALUES('cluster-orders/home','{"rolloutPaused":false,"replace":[],"removeMembers":[]}');
CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, body TEXT NOT NULL) STRICT;
INSERT INTO "events" VALUES(1,'Image/noble@fun-bedbug','{"atMs":1795086464820,"key":"Image/noble@fun-bedbug","type":"Normal","reason":"Started","message":"download noble-server-cloudimg-amd64.qcow2 to local on fun-bedbug","cause":{"plan":"declared, does not exist yet","call":"POST /nodes/fun-bedbug/storage/local/download-url"}}');
INSERT INTO "events" VALUES(2,'Cluster/home','{"atMs":1795086464700,"key":"Cluster/home","type":"Normal","reason":"RecordFirstServer","message":"record CA, token and home-1 as the first server: no first server is recorded yet"}');
INSERT INTO "events" VALUES(3,'Cluster/home','{"atMs":1795086464700,"key":"Cluster/home","type":"Normal","reason":"Forming","message":"home-1: its machine does not exist"}');
INSERT INTO "events" VALUES(4,'Image/noble@fun-bedbug','{"atMs":1795086471580,"key":"Image/noble@fun-bedbug","type":"Normal","reason":"Done","message":"download noble-server-cloudimg-amd64.qcow2 to local on fun-bedbug","cause":{"call":"POST /nodes/fun-bedbug/storage/local/download-url"}}');
INSERT INTO "events" VALUES(5,'Image/noble@fun-bedbug','{"atMs":1795086471580,"key":"Image/noble@fun-bedbug","type":"Normal","reason":"Ready","message":"local:import/noble-server-cloudimg-amd64.qcow2 on fun-bedbug is there"}');
INSERT INTO "events" VALUES(6,'Machine/home-1','{"atMs":1795086471640,"key":"Machine/home-1","type":"Normal","reason":"Started","message":"create VM 100 (home-1) on fun-bedbug","cause":{"plan":"declared, does not exist yet","call":"POST /nodes/fun-bedbug/qemu"}}');
INSERT INTO "events" VALUES(7,'Machine/home-1','{"atMs":1795086488280,"key":"Machine/home-1","type":"Normal","reason":"Done","message":"create VM 100 (home-1) on fun-bedbug","cause":{"plan":"disks.scsi0.sizeGb, seed, power differ","call":"POST /nodes/fun-bedbug/qemu"}}');
INSERT INTO "events" VALUES(8,'Machine/home-1','{"atMs":1795086488280,"key":"Machine/home-1","type":"Normal","reason":"Started","message":"grow scsi0 of VM 100 to 40 GiB","cause":{"plan":"disks.scsi0.sizeGb, seed, power differ","call":"PUT /nodes/fun-bedbug/qemu/100/resize"}}');
INSERT INTO "events" VALUES(9,'Machine/home-1','{"atMs":1795086493480,"key":"Machine/home-1","type":"Normal","reason":"Done","message":"grow scsi0 of VM 100 to 40 GiB","cause":{"plan":"seed, power differ","call":"PUT /nodes/fun-bedbug/qemu/100/resize"}}');
INSERT INTO "events" VALUES(10,'Machine/home-1','{"atMs":1795086493480,"key":"Machine/home-1","type":"Normal","reason":"Started","message":"upload croft-cc165b20eb307b87-3828a01d214d.iso (122 KiB) to local on fun-bedbug","cause":{"plan":"seed, power differ","call":"POST /nodes/fun-bedbug/storage/local/upload"}}');
INSERT INTO "events" VALUES(11,'Machine/home-1','{"atMs":1795086498320,"key":"Machine/home-1","type":"Normal","reason":"Done","message":"upload croft-cc165b20eb307b87-3828a01d214d.iso (122 KiB) to local on fun-bedbug","cause":{"plan":"seed, power differ","call":"POST /nodes/fun-bedbug/storage/local/upload"}}');
INSERT INTO "events" VALUES(12,'Machine/home-1','{"atMs":1795086498320,"key":"Machine/home-1","type":"Normal","reason":"Done","message":"put seed 3828a01d214d into ide2 of VM 100","cause":{"plan":"seed, power differ","call":"PUT /nodes/fun-bedbug/qemu/100/config"}}');
INSERT INTO "events" VALUES(13,'Machine/home-1','{"atMs":1795086500300,"key":"Machine/home-1","type":"Normal","reason":"Started","message":"start VM 100 on fun-bedbug","cause":{"plan":"power differs","call":"POST /nodes/fun-bedbug/qemu/100/status/start"}}');
INSERT INTO "events" VALUES(14,'Machine/home-1','{"atMs":1795086506000,"key":"Machine/home-1","type":"Normal","reason":"Done","message":"start VM 100 on fun-bedbug","cause":{"call":"POST /nodes/fun-bedbug/qemu/100/status/start"}}');
INSERT INTO "events" VALUES(15,'Machine/home-1','{"atMs":1795086536220,"key":"Machine/home-1","type":"Normal","reason":"Done","message":"take seed 3828a01d214d out of VM 100","cause":{"plan":"seed.image differs","call":"PUT /nodes/fun-bedbug/qemu/100/config"}}');
INSERT INTO "events" VALUES(16,'Machine/home-1','{"atMs":1795086538640,"key":"Machine/home-1","type":"Normal","reason":"Started","message":"delete local:iso/croft-cc165b20eb307b87-3828a01d214d.iso on fun-bedbug","cause":{"plan":"seed.image differs","call":"DELETE /nodes/fun-bedbug/storage/local/content/local%3Aiso%2Fcroft-cc165b20eb307b87-3828a01d214d.iso"}}');
INSERT INTO "events" VALUES(17,'Machine/home-1','{"atMs":1795086543900,"key":"Machine/home-1","type":"Normal","reason":"Done","message":"delete local:iso/croft-cc165b20eb307b87-3828a01d214d.iso on fun-bedbug","cause":{"plan":"seed.image differs","call":"DELETE /nodes/fun-bedbug/storage/local/content/local%3Aiso%2Fcroft-cc165b20eb307b87-3828a01d214d.iso"}}');
INSERT INTO "events" VALUES(18,'Machine/home-1','{"atMs":1795086543900,"key":"Machine/home-1","type":"Normal","reason":"Done","message":"note on VM 100 that its seed image is gone","cause":{"plan":"seed.image differs","call":"PUT /nodes/fun-bedbug/qemu/100/config"}}');
INSERT INTO "events" VALUES(19,'Cluster/home','{"atMs":1795086543840,"key":"Cluster/home","type":"Normal","reason":"InitCluster","message":"start home-1 as the first server: the cluster was never formed"}');
INSERT INTO "events" VALUES(20,'Machine/home-1','{"atMs":1795086547380,"key":"Machine/home-1","type":"Normal","reason":"Ready","message":"VM 100 on fun-bedbug is running and its agent answers"}');
INSERT INTO "events" VALUES(21,'Cluster/home','{"atMs":1795086565720,"key":"Cluster/home","type":"Normal","reason":"NoteFormed","message":"record that home is formed: its API answers"}');
INSERT INTO "events" VALUES(22,'Cluster/home','{"atMs":1795086565720,"key":"Cluster/home","type":"Normal","reason":"Changing","message":"waits for home-1 to become a Node"}');
INSERT INTO "events" VALUES(23,'Cluster/home','{"atMs":1795086575560,"key":"Cluster/home","type":"Normal","reason":"Ready","message":"all nodes are Ready, but https://192.168.4.79:6443, the declared endpoint, does not answer; only the servers'' own addresses do"}');
CREATE TABLE intentions (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
  ) STRICT;
CREATE TABLE records (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "records" VALUES('Cluster/home','{"key":"Cluster/home","uid":"1e195287b2c2df9c","connection":"","type":"cluster","generation":"94faf412d5a261e9","policy":{"deletion":"Delete","protect":false,"paused":false,"manage":"full","replace":"refused"},"conditions":[{"type":"Synced","status":"True","reason":"AsDeclared","message":"","sinceMs":1795086575560},{"type":"Ready","status":"True","reason":"NodesReady","message":"1 server, fault tolerance 0: if it is lost, the API is gone until a backup is restored","sinceMs":1795086579020},{"type":"Stalled","status":"False","reason":"Progressing","message":"","sinceMs":1795086464700}],"createdMs":1795086464700,"status":"Ready","details":{"version":"v1.34.3+k3s1","nodes":"1/1","servers":"Machine/home-1","members":"home-1","caHash":"a34a3bbe5233"}}');
INSERT INTO "records" VALUES('Image/noble@fun-bedbug','{"key":"Image/noble@fun-bedbug","uid":"a6598320de0d7c61","connection":"default","type":"file","generation":"83a6563213bf2d46","declaredBy":"4a755beb931b8854","policy":{"deletion":"Orphan","protect":false,"paused":false,"manage":"full","replace":"refused"},"conditions":[{"type":"Synced","status":"True","reason":"InSync","message":"as declared","sinceMs":1795086471580},{"type":"Ready","status":"True","reason":"Present","message":"local:import/noble-server-cloudimg-amd64.qcow2 on fun-bedbug is there","sinceMs":1795086471580},{"type":"Stalled","status":"False","reason":"NotStalled","message":"","sinceMs":1795086464820}],"createdMs":1795086464820,"status":"Present","externalId":"local:import/noble-server-cloudimg-amd64.qcow2","host":"fun-bedbug","seenMs":1795086471580,"syncedGeneration":"83a6563213bf2d46","list":"files/fun-bedbug/local","made":true}');
INSERT INTO "records" VALUES('Machine/home-1','{"key":"Machine/home-1","uid":"cc165b20eb307b87","connection":"default","type":"vm","generation":"a1854e88bdfd48db","declaredBy":"4a755beb931b8854","policy":{"deletion":"Delete","protect":false,"paused":false,"manage":"full","replace":"refused","serverOf":"Cluster/home"},"conditions":[{"type":"Synced","status":"True","reason":"InSync","message":"as declared","sinceMs":1795086547380},{"type":"Ready","status":"True","reason":"AgentUp","message":"VM 100 on fun-bedbug is running and its agent answers","sinceMs":1795086547380},{"type":"Stalled","status":"False","reason":"NotStalled","message":"","sinceMs":1795086464980}],"createdMs":1795086464980,"status":"Running","externalId":"100","host":"fun-bedbug","seenMs":1795086488280,"birth":"uuid 492e30dd-0af0-4d68-a723-cc764b7c3499","syncedGeneration":"a1854e88bdfd48db","declaredHost":"fun-bedbug","addresses":["192.168.4.81"],"made":true,"details":{"cluster":"Cluster/home","addresses":"192.168.4.81"}}');
CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL,
    complete INTEGER NOT NULL
  ) STRICT;
INSERT INTO "state" VALUES(1,2,1);
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit log is never changed'); END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit
  WHEN OLD.seq > (SELECT max(seq) FROM audit) - 10000
  BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('audit',5);
INSERT INTO "sqlite_sequence" VALUES('intentions',14);
INSERT INTO "sqlite_sequence" VALUES('events',23);
COMMIT;
