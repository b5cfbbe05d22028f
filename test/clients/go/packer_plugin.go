// packer's Proxmox plugin, with the builder that packer itself runs: an image is made from a copy of a machine,
// another one from a copy of that image, and both are removed. Ends with code 0 and one line, or with what went wrong.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	proxmoxclone "github.com/hashicorp/packer-plugin-proxmox/builder/proxmox/clone"
	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"
)

const node = "fun-bedbug"

func must(what string, err error) {
	if err != nil {
		fmt.Printf("%s: %v\n", what, err)
		os.Exit(1)
	}
}

func build(what string, builder packersdk.Builder, settings map[string]interface{}) packersdk.Artifact {
	id, secret, _ := strings.Cut(os.Args[2], "=")
	for name, value := range map[string]interface{}{
		"proxmox_url": os.Args[1] + "/api2/json", "insecure_skip_tls_verify": true, "username": id, "token": secret,
		"node": node, "communicator": "none", "boot_wait": "3s", "boot_command": []string{"<enter>"}, "packer_build_name": what,
	} {
		settings[name] = value
	}
	_, _, err := builder.Prepare(settings)
	must(what+": prepare", err)
	ui := &packersdk.BasicUi{Reader: strings.NewReader(""), Writer: os.Stdout, ErrorWriter: os.Stdout,
		PB: &packersdk.NoopProgressTracker{}}
	artifact, err := builder.Run(context.Background(), ui, &packersdk.DispatchHook{})
	must(what, err)
	if artifact == nil || artifact.Id() == "" {
		must(what, fmt.Errorf("no image came of it"))
	}
	return artifact
}

func call(method string, path string, body url.Values) (string, error) {
	request, err := http.NewRequest(method, os.Args[1]+"/api2/json"+path, strings.NewReader(body.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "PVEAPIToken="+os.Args[2])
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != 200 {
		err = fmt.Errorf("%s", answer.Status)
	}
	return string(text), err
}

// A machine with an operating system on it, for the first image.
func base() error {
	answer, err := call("POST", "/nodes/"+node+"/qemu", url.Values{"vmid": {"900"}, "name": {"base"}, "memory": {"1024"}, "agent": {"1"},
		"scsihw": {"virtio-scsi-pci"}, "boot": {"order=scsi0"},
		"scsi0": {"local-zfs:0,import-from=local:import/noble-server-cloudimg-amd64.qcow2"}})
	if err != nil {
		return err
	}
	task := strings.Trim(strings.TrimPrefix(answer, `{"data":`), `"}`)
	for i := 0; i < 600; i++ {
		status, err := call("GET", "/nodes/"+node+"/tasks/"+url.PathEscape(task)+"/status", nil)
		if err != nil {
			return err
		}
		if strings.Contains(status, `"exitstatus":"OK"`) {
			return listed("base")
		}
		if strings.Contains(status, "exitstatus") {
			return fmt.Errorf("%s", status)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("it is not made in time")
}

// The list of the cluster has the name of a new machine when its status was reported, and the plugin looks there.
func listed(name string) error {
	for i := 0; i < 600; i++ {
		all, err := call("GET", "/cluster/resources?type=vm", nil)
		if err != nil {
			return err
		}
		if strings.Contains(all, `"name":"`+name+`"`) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%s is not listed in time", name)
}

func main() {
	must("a machine to begin with", base())
	golden := build("golden", &proxmoxclone.Builder{}, map[string]interface{}{
		"clone_vm": "base", "full_clone": true, "vm_name": "golden", "template_name": "golden",
		"template_description": "an image", "memory": 1024, "cores": 2, "cpu_type": "host", "os": "l26",
		"scsi_controller": "virtio-scsi-single", "ssh_username": "ops",
		"cloud_init": true, "cloud_init_storage_pool": "local-zfs",
		"network_adapters": []map[string]interface{}{{"model": "virtio", "bridge": "vmbr0"}},
	})
	web := build("web", &proxmoxclone.Builder{}, map[string]interface{}{
		"clone_vm": "golden", "full_clone": true, "vm_name": "web", "template_name": "web", "template_description": "its copy",
		"memory": 2048, "cores": 1, "ssh_username": "ops",
		"network_adapters": []map[string]interface{}{{"model": "virtio", "bridge": "vmbr0"}},
	})
	must("remove the copy", web.Destroy())
	must("remove the image", golden.Destroy())
	fmt.Println("every step was taken")
}
