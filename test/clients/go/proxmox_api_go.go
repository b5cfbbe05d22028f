// A day with proxmox-api-go, the library under Telmate's provider and under packer's Proxmox plugin: an image is made
// from a machine, copied, used and removed. Ends with code 0 and one line, or with what went wrong.
package main

import (
	"crypto/tls"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/Telmate/proxmox-api-go/proxmox"
)

const node = "fun-bedbug"

func must(what string, err error) {
	if err != nil {
		fmt.Printf("%s: %v\n", what, err)
		os.Exit(1)
	}
}

func check(what string, ok bool) {
	if !ok {
		must(what, fmt.Errorf("it is not so"))
	}
}

func main() {
	client, err := proxmox.NewClient(os.Args[1]+"/api2/json", nil, "", &tls.Config{InsecureSkipVerify: true}, "", 60)
	must("client", err)
	id, secret, _ := strings.Cut(os.Args[2], "=")
	client.SetAPIToken(id, secret)
	_, err = client.GetVersion()
	must("version", err)
	must("pool", client.CreatePool("images", "made by packer"))

	// What packer does: make a machine, let it run, turn it into a template.
	first, err := client.GetNextID(0)
	must("next id", err)
	source := proxmox.NewVmRef(first)
	source.SetNode(node)
	source.SetPool("images")
	config, err := proxmox.NewConfigQemuFromJson([]byte(`{"name": "golden", "description": "an image", "memory": 1024,
		"cores": 2, "sockets": 1, "cpu": "host", "ostype": "l26", "onboot": false, "agent": 1, "scsihw": "virtio-scsi-single",
		"pool": "images", "tags": "golden", "network": {"0": {"model": "virtio", "bridge": "vmbr0"}}}`))
	must("configuration", err)
	must("create", config.Create(source, client))
	_, err = client.SetVmConfig(source, map[string]interface{}{
		"scsi0": "local-zfs:0,import-from=local:import/noble-server-cloudimg-amd64.qcow2",
		"ide2":  "local-zfs:cloudinit", "boot": "order=scsi0"})
	must("disks", err)
	_, err = client.StartVm(source)
	must("start", err)
	_, err = client.StartVm(source)
	check("a second start is refused", err != nil)
	running := false
	for i := 0; i < 600 && !running; i++ {
		_, err = client.QemuAgentPing(source)
		running = err == nil
		time.Sleep(50 * time.Millisecond)
	}
	check("its agent answers", running)
	interfaces, err := client.GetVmAgentNetworkInterfaces(source)
	must("interfaces", err)
	check("an address", len(interfaces) > 0)
	_, err = client.ShutdownVm(source)
	must("shutdown", err)
	must("template", client.CreateTemplate(source))

	// What Telmate's provider does: copy it, set it up, start it, read it back.
	copyOf := proxmox.NewVmRef(first + 1)
	copyOf.SetNode(node)
	full := 1
	wanted, err := proxmox.NewConfigQemuFromJson([]byte(`{"name": "web", "memory": 2048, "cores": 1, "sockets": 1,
		"cpu": "host", "ostype": "l26", "onboot": true, "agent": 1, "ciuser": "ops", "ipconfig": {"0": "ip=dhcp"},
		"network": {"0": {"model": "virtio", "bridge": "vmbr0"}}}`))
	must("second configuration", err)
	wanted.FullClone = &full
	must("clone", wanted.CloneVm(source, copyOf, client))
	must("update", wanted.UpdateConfig(copyOf, client))
	_, err = client.ResizeQemuDiskRaw(copyOf, "scsi0", "+2G")
	must("resize", err)
	_, err = client.StartVm(copyOf)
	must("start the copy", err)
	read, err := proxmox.NewConfigQemuFromApi(copyOf, client)
	must("read back", err)
	check("memory and name", read.Memory == 2048 && read.Name == "web")
	must("find it", client.CheckVmRef(copyOf))
	state, err := client.GetVmState(copyOf)
	must("state", err)
	check("it runs", state["status"] == "running")
	_, err = client.CreateQemuSnapshot(copyOf, "before")
	must("snapshot", err)
	_, err = client.DeleteQemuSnapshot(copyOf, "before")
	must("remove the snapshot", err)
	_, err = client.UpdateVMPool(copyOf, "images")
	must("move into the pool", err)
	_, err = client.StopVm(copyOf)
	must("stop", err)
	_, err = client.DeleteVm(copyOf)
	must("delete the copy", err)

	// A machine that starts with its creation.
	third := proxmox.NewVmRef(first + 2)
	third.SetNode(node)
	_, err = client.CreateQemuVm(node, map[string]interface{}{
		"vmid": first + 2, "name": "quick", "memory": 512, "scsi0": "local-zfs:1", "start": true})
	must("create and start", err)
	_, err = client.StopVm(third)
	must("stop it", err)
	_, err = client.DeleteVm(third)
	must("delete it", err)

	_, err = client.DeleteVm(source)
	must("delete the template", err)
	exists, err := client.VMIdExists(first)
	must("look for it", err)
	check("it is gone", !exists)
	must("delete the pool", client.DeletePool("images"))
	fmt.Println("every step was taken")
}
